// sum and mean, rung 3: a tree in shared memory, neighbours first.
//
// Rung 2 sent every element to one address. Here a block adds its 256 elements in 8 rounds and passes on one sum. The
// sums are added the same way, level by level, always in the same order.
//
// Limited by: divergence. In the round with stride s, every 2s-th thread adds. For five rounds all warps run, with a
// half, then a quarter, and finally one of their lanes active. No warp is done before the sixth round. There are eight
// barriers as well.

#include "ops/reduction/levels.h"

enum { TILE = HEDDLE_REDUCTION_TILE }; // one thread per element

// input: (n), sums: (blocks)
__global__ void sum_shared_divergent(int n, float divisor, const float *input, float *sums)
{
    __shared__ float tile[TILE];
    size_t i = (size_t)blockIdx.x * TILE + threadIdx.x;
    tile[threadIdx.x] = i < (size_t)n ? input[i] : 0;
    __syncthreads();

    for (int stride = 1; stride < TILE; stride *= 2) {
        if (threadIdx.x % (2 * stride) == 0)
            tile[threadIdx.x] += tile[threadIdx.x + stride];
        __syncthreads();
    }

    if (threadIdx.x == 0)
        sums[blockIdx.x] = tile[0] / divisor;
}

static void level(int n, float divisor, const float *input, float *sums, unsigned blocks, cudaStream_t stream)
{
    sum_shared_divergent<<<blocks, TILE, 0, stream>>>(n, divisor, input, sums);
}

HEDDLE_REDUCTION_RUNGS("03_shared_divergent", level)
