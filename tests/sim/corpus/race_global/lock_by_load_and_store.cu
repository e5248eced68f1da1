// A lock that is taken by a load and a store: two threads may both find it free.
// schedule: 1
#include "../corpus.h"

#include <cuda/atomic>

__device__ cuda::atomic<int, cuda::thread_scope_device> taken, right;

__global__ void count(int *total)
{
    if (threadIdx.x != 0)
        return;
    while (taken.load(cuda::memory_order_acquire) != 0)
        ;
    taken.store(1, cuda::memory_order_relaxed);
    *total += 1; // expect: race
    taken.store(0, cuda::memory_order_release);
}

__global__ void count_right(int *total)
{
    if (threadIdx.x != 0)
        return;
    while (right.exchange(1, cuda::memory_order_acquire) != 0)
        ;
    *total += 1;
    right.store(0, cuda::memory_order_release);
}

int main()
{
    int *total = device_zeros<int>(2);
    count<<<4, 32>>>(total);
    count_right<<<4, 32>>>(total + 1);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(total));
    return 0;
}
