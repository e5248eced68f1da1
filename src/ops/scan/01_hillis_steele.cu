// scan, rung 1: every thread adds the value at distance 1, then 2, 4, 8, ... After eight rounds each of 256 threads
// holds the sum of all elements up to its own (Hillis and Steele, 1986).
//
// Reading and writing the same place in one round would be a race, so the rounds alternate between two buffers.
//
// Limited by: additions and barriers: n log n additions instead of n, and three passes over memory. Tiles are scanned,
// then their totals, then the totals are added to the tiles.

#include "ops/scan/levels.h"

enum { TILE = 256 }; // one thread per element

// input, output: (n), totals: (blocks) or NULL
__global__ void scan_hillis_steele(int n, const float *input, float *output, float *totals)
{
    __shared__ float sums[2][TILE];
    int at = threadIdx.x, now = 0;
    size_t i = (size_t)blockIdx.x * TILE + at;
    sums[now][at] = i < (size_t)n ? input[i] : 0;
    __syncthreads();

    for (int distance = 1; distance < TILE; distance *= 2) {
        sums[1 - now][at] = at >= distance ? sums[now][at] + sums[now][at - distance] : sums[now][at];
        now = 1 - now;
        __syncthreads();
    }

    if (i < (size_t)n)
        output[i] = sums[now][at];
    if (totals && at == TILE - 1)
        totals[blockIdx.x] = sums[now][at];
}

static void scan_tiles(int n, const float *input, float *output, float *totals, unsigned tiles, cudaStream_t stream)
{
    scan_hillis_steele<<<tiles, TILE, 0, stream>>>(n, input, output, totals);
}

static heddle_status launch(const heddle_call *call)
{
    heddle_scan_levels<TILE>(((const heddle_elements_shape *)call->shape)->n, (const float *)call->input[0],
                             (float *)call->output[0], (float *)call->workspace, scan_tiles,
                             heddle_cuda_stream_of(call));
    return heddle_cuda_launched("01_hillis_steele");
}

HEDDLE_CUDA_RUNG("scan", "01_hillis_steele", launch)
