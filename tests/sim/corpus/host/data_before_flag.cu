// The host fills memory that a kernel in a stream is going to use, and then sets the word on which the kernel waits: in
// one thread for its block, in every thread, by an atomic that acquires, in one block for the grid, and in a kernel
// that the one that uses the memory follows. The host also takes what is there before it lets the kernel write.
#include <atomic>
#include <cooperative_groups.h>
#include <cuda/atomic>

#include "../corpus.h"

enum { COUNT = 64, BLOCKS = 2 };

__device__ void wait_for(volatile int *go, int value)
{
    while (*go < value)
        continue;
    __threadfence_system();
}

__global__ void one_waits(volatile int *go, const int *input, int *output)
{
    if (threadIdx.x == 0)
        wait_for(go, 1);
    __syncthreads();
    output[threadIdx.x] = input[threadIdx.x];
}

__global__ void all_wait(volatile int *go, const int *input, int *output)
{
    wait_for(go, 1);
    output[threadIdx.x] = input[threadIdx.x];
}

__global__ void waits_twice(volatile int *go, const int *input, int *output)
{
    wait_for(go, 1);
    output[threadIdx.x] = input[threadIdx.x];
    wait_for(go, 2);
    output[threadIdx.x] += input[COUNT + threadIdx.x];
}

__global__ void acquires(int *go, const int *input, int *output)
{
    cuda::atomic_ref<int, cuda::thread_scope_system> word(*go);
    while (word.load(cuda::memory_order_acquire) == 0)
        continue;
    output[threadIdx.x] = input[threadIdx.x];
}

__global__ void grid_waits(volatile int *go, const int *input, int *output)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        wait_for(go, 1);
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == BLOCKS - 1)
        output[threadIdx.x] = input[threadIdx.x];
}

__global__ void gate(volatile int *go)
{
    wait_for(go, 1);
}

__global__ void copy(const int *input, int *output)
{
    output[threadIdx.x] = input[threadIdx.x];
}

__global__ void overwrite(volatile int *go, int *data)
{
    wait_for(go, 1);
    data[threadIdx.x] = -1;
}

static void fill(int *data, int value)
{
    for (int i = 0; i < COUNT; i++)
        data[i] = value + i;
}

static void finish(const int *output, int value, int *go)
{
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++)
        REQUIRE(output[i] == value + i);
    *go = 0;
}

static void set(int *go, int value)
{
    std::atomic_thread_fence(std::memory_order_release);
    *(volatile int *)go = value;
}

static void release(int *go)
{
    __atomic_store_n(go, 1, __ATOMIC_RELEASE);
}

static void in_one_kernel(int *go, int *input, int *output)
{
    one_waits<<<1, COUNT>>>(go, input, output);
    fill(input, 10);
    set(go, 1);
    finish(output, 10, go);
    all_wait<<<1, COUNT>>>(go, input, output);
    fill(input, 20);
    release(go);
    finish(output, 20, go);
    acquires<<<1, COUNT>>>(go, input, output);
    fill(input, 30);
    release(go);
    finish(output, 30, go);
}

static void in_several_steps(int *go, int *input, int *output)
{
    waits_twice<<<1, COUNT>>>(go, input, output);
    fill(input, 0);
    set(go, 1);
    for (int i = 0; i < COUNT; i++)
        input[COUNT + i] = 40;
    set(go, 2);
    finish(output, 40, go);
    void *arguments[] = {&go, &input, &output};
    CHECK(cudaLaunchCooperativeKernel((const void *)grid_waits, dim3(BLOCKS), dim3(COUNT), arguments, 0, 0));
    fill(input, 50);
    set(go, 1);
    finish(output, 50, go);
    gate<<<1, 1>>>(go);
    copy<<<1, COUNT>>>(input, output);
    fill(input, 60);
    set(go, 1);
    finish(output, 60, go);
}

static void before_the_kernel_writes(int *go, int *data)
{
    int sum = 0;
    fill(data, 0);
    overwrite<<<1, COUNT>>>(go, data);
    for (int i = 0; i < COUNT; i++)
        sum += data[i];
    set(go, 1);
    CHECK(cudaDeviceSynchronize());
    REQUIRE(sum == COUNT * (COUNT - 1) / 2 && data[0] == -1);
    *go = 0;
}

int main()
{
    int *mapped = NULL, *managed = NULL;
    const size_t bytes = (3 * COUNT + 1) * sizeof(int);
    CHECK(cudaHostAlloc((void **)&mapped, bytes, cudaHostAllocMapped));
    CHECK(cudaMallocManaged(&managed, bytes));
    int *const words[] = {mapped, managed};
    for (int *go : words) {
        *go = 0;
        in_one_kernel(go, go + 1, go + 1 + 2 * COUNT);
        in_several_steps(go, go + 1, go + 1 + 2 * COUNT);
        before_the_kernel_writes(go, go + 1);
    }
    CHECK(cudaFreeHost(mapped));
    CHECK(cudaFree(managed));
    return 0;
}
