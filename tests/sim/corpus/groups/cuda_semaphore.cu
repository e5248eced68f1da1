// A semaphore of one permit is a lock; one that starts at none hands a value from the first block to the second.
#include <cuda/semaphore>

#include "../corpus.h"

__device__ cuda::binary_semaphore<cuda::thread_scope_device> lock(1);
__device__ cuda::counting_semaphore<cuda::thread_scope_device, 32> handed;

__global__ void count(int *total)
{
    lock.acquire();
    *total += 1;
    lock.release();
}

__global__ void hand_over(int *data, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x + 1;
        __syncwarp();
        if (threadIdx.x == 0)
            handed.release();
    } else if (threadIdx.x == 0) {
        handed.acquire();
        out[0] = data[0] + 100 * handed.try_acquire();
    }
}

int main()
{
    int *total = device_zeros<int>(1), totals[1], *data = device_zeros<int>(32), *out = device_zeros<int>(1), first[1];
    count<<<4, 32>>>(total);
    fetch(totals, total);
    REQUIRE(totals[0] == 128);
    hand_over<<<2, 32>>>(data, out);
    fetch(first, out);
    REQUIRE(first[0] == 1);
    CHECK(cudaFree(total));
    CHECK(cudaFree(data));
    CHECK(cudaFree(out));
    return 0;
}
