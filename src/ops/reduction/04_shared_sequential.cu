// sum and mean, rung 4: the tree of rung 3, folded in halves.
//
// In rung 3 the active lanes were far apart. Here the first half adds the second half, then the first quarter adds the
// second. The active threads are always the first ones: whole warps, as long as at least 32 are active. Warps without
// work skip the round.
//
// Limited by: barriers, one per round, eight for 256 elements. Half of the threads only load.

#include "ops/reduction/levels.h"

enum { TILE = HEDDLE_REDUCTION_TILE }; // one thread per element

// input: (n), sums: (blocks)
__global__ void sum_shared_sequential(int n, float divisor, const float *input, float *sums)
{
    __shared__ float tile[TILE];
    size_t i = (size_t)blockIdx.x * TILE + threadIdx.x;
    tile[threadIdx.x] = i < (size_t)n ? input[i] : 0;
    __syncthreads();

    for (int half = TILE / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            tile[threadIdx.x] += tile[threadIdx.x + half];
        __syncthreads();
    }

    if (threadIdx.x == 0)
        sums[blockIdx.x] = tile[0] / divisor;
}

static void level(int n, float divisor, const float *input, float *sums, unsigned blocks, cudaStream_t stream)
{
    sum_shared_sequential<<<blocks, TILE, 0, stream>>>(n, divisor, input, sums);
}

HEDDLE_REDUCTION_RUNGS("04_shared_sequential", level)
