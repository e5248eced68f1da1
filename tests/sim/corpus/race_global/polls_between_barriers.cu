// Blocks wait for their turn by an atomic once a round, and meet at a barrier, or in a warp, in every round. The last
// block is the first to have its turn.
#include "../corpus.h"

__device__ int turn;

__device__ void work(int *sum)
{
    __threadfence();
    sum[threadIdx.x] += blockIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&turn, 1);
}

__global__ void told_in_shared_memory(int *sum)
{
    __shared__ int seen;
    int mine = gridDim.x - 1 - blockIdx.x;
    for (bool waits = true; waits;) {
        if (threadIdx.x == 0)
            seen = atomicAdd(&turn, 0);
        __syncthreads();
        waits = seen != mine;
        __syncthreads();
    }
    work(sum);
}

__global__ void told_by_the_barrier(int *sum)
{
    int mine = 2 * gridDim.x - 1 - blockIdx.x;
    while (!__syncthreads_or(threadIdx.x == 0 && atomicCAS(&turn, mine, mine) == mine))
        ;
    work(sum);
}

__global__ void told_in_the_warp(int *sum)
{
    int mine = 3 * gridDim.x - 1 - blockIdx.x;
    while (!__any_sync(~0u, threadIdx.x % 32 == 0 && atomicAdd(&turn, 0) == mine))
        ;
    __syncwarp();
    work(sum);
}

int main()
{
    int *sum = device_zeros<int>(64), result[64];
    told_in_shared_memory<<<4, 64>>>(sum);
    told_by_the_barrier<<<4, 64>>>(sum);
    told_in_the_warp<<<4, 64>>>(sum);
    CHECK(cudaGetLastError());
    fetch(result, sum);
    REQUIRE(result[0] == 18 && result[63] == 18);
    CHECK(cudaFree(sum));
    return 0;
}
