// The semaphore is a lock for one block, but the counter that it guards is every block's.
#include <cuda/semaphore>

#include "../corpus.h"

__device__ cuda::binary_semaphore<cuda::thread_scope_block> lock(1);

__global__ void count(int *total)
{
    if (threadIdx.x == 0) {
        lock.acquire(); // expect: race b+
        *total += 1;    // expect: race
        lock.release(); // expect: race b+
    }
}

int main()
{
    int *total = device_zeros<int>(1);
    count<<<4, 32>>>(total);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(total));
    return 0;
}
