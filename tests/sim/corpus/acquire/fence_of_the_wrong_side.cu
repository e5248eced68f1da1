// A fence that only acquires does not release what was written before it, and one that only releases does not acquire.
#include <cuda/atomic>

#include "../corpus.h"

__device__ void wait_for(int *flag)
{
    while (cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).load(cuda::memory_order_relaxed) == 0)
        ;
}

__device__ void raise(int *flag)
{
    cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(1, cuda::memory_order_relaxed);
}

__global__ void right(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        *data = 42;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        raise(flag);
    } else {
        wait_for(flag);
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        *output = *data;
    }
}

__global__ void acquires_before_the_flag(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        *data = 42; // expect: race a
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        raise(flag);
    } else {
        wait_for(flag);
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        *output = *data; // expect: race a
    }
}

__global__ void releases_behind_the_flag(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        *data = 42;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        raise(flag);
    } else {
        cuda::atomic_ref<int, cuda::thread_scope_device> looked_at(*flag);
        while (looked_at.load(cuda::memory_order_relaxed) == 0) // expect: race(warning) c
            ;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        *output = *data; // expect: race(warning) c
    }
}

__global__ void wrong_builtin(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        *data = 42; // expect: race b
        __nv_atomic_thread_fence(__NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
        raise(flag);
    } else {
        wait_for(flag);
        __nv_atomic_thread_fence(__NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
        *output = *data; // expect: race b
    }
}

__global__ void wrong_builtin_of_the_reader(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        *data = 42;
        __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
        raise(flag);
    } else {
        cuda::atomic_ref<int, cuda::thread_scope_device> looked_at(*flag);
        while (looked_at.load(cuda::memory_order_relaxed) == 0) // expect: race(warning) d
            ;
        __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
        *output = *data; // expect: race(warning) d
    }
}

int main()
{
    int *data = device_zeros<int>(1), *flag = device_zeros<int>(1), *output = device_zeros<int>(1);
    void (*kernels[])(int *, int *, int *) = {right, acquires_before_the_flag, releases_behind_the_flag, wrong_builtin,
                                              wrong_builtin_of_the_reader};
    for (auto kernel : kernels) {
        CHECK(cudaMemset(flag, 0, sizeof *flag));
        kernel<<<2, 1>>>(data, flag, output);
        CHECK(cudaDeviceSynchronize());
    }
    for (int *memory : {data, flag, output})
        CHECK(cudaFree(memory));
    return 0;
}
