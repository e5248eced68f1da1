// Fewer atomics for the same count: threads of a warp first agree among themselves, and one of them does the addition
// for all. `heddle check --counters` shows the atomics of each kernel: one a thread, one a warp, one a block.

#include "program.h"

enum { BLOCKS = 16, THREADS = 256, ALL = BLOCKS * THREADS, WARP = 32 };
#define EVERY_LANE 0xffffffffu

__host__ __device__ static bool is_counted(int i)
{
    return i % 5 == 0;
}

__global__ void count_by_thread(int *counter)
{
    if (is_counted(blockIdx.x * blockDim.x + threadIdx.x))
        atomicAdd(counter, 1);
}

__global__ void count_by_warp(int *counter)
{
    unsigned mine = __ballot_sync(EVERY_LANE, is_counted(blockIdx.x * blockDim.x + threadIdx.x));
    if (threadIdx.x % WARP == 0)
        atomicAdd(counter, __popc(mine));
}

// In shared memory an atomic costs less, and only threads of the block meet there.
__global__ void count_by_block(int *counter)
{
    __shared__ int of_block;
    if (threadIdx.x == 0)
        of_block = 0;
    __syncthreads();
    unsigned mine = __ballot_sync(EVERY_LANE, is_counted(blockIdx.x * blockDim.x + threadIdx.x));
    if (threadIdx.x % WARP == 0)
        atomicAdd(&of_block, __popc(mine));
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(counter, of_block);
}

int main()
{
    int counters[3] = {0}, expected = 0;
    int *card = (int *)to_card(counters, sizeof counters);
    count_by_thread<<<BLOCKS, THREADS>>>(card);
    count_by_warp<<<BLOCKS, THREADS>>>(card + 1);
    count_by_block<<<BLOCKS, THREADS>>>(card + 2);
    from_card(counters, card, sizeof counters);
    for (int i = 0; i < ALL; i++)
        expected += is_counted(i);
    expect("an atomic a thread", counters[0], expected);
    expect("an atomic a warp", counters[1], expected);
    expect("an atomic a block", counters[2], expected);
    return wrong_results > 0;
}
