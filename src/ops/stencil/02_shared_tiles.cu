// shift and stencil, rung 2: a block's inputs in shared memory, with the halo that its edges need.
//
// Rung 1 loaded every neighbour from global memory. Here a block loads each input once; neighbours come from shared
// memory, where other threads have stored them. That needs __syncthreads: without it a thread may read its neighbour's
// place before the neighbour has written it.
//
// Limited by: shared memory, one load per addition. A shift gains nothing: each input was used only once anyway, and
// here it also goes through shared memory.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

enum {
    TILE = HEDDLE_CUDA_BLOCK, // outputs per block, one per thread
    MOST_RADIUS = 64,
};

// input, output: (n)
__global__ void shift_shared_tiles(int n, const float *input, float *output)
{
    __shared__ float tile[TILE + 1];
    size_t first = (size_t)blockIdx.x * TILE, i = first + threadIdx.x;
    if (i < (size_t)n)
        tile[threadIdx.x] = input[i];
    size_t next = first + TILE; // the one beyond the tile; the last output wraps around to the first input
    if (threadIdx.x == 0)
        tile[TILE] = input[next < (size_t)n ? next : 0];

    __syncthreads();

    if (i + 1 < (size_t)n)
        output[i] = tile[threadIdx.x + 1];
    else if (i < (size_t)n)
        output[i] = tile[TILE];
}

__global__ void stencil_shared_tiles(int n, int radius, const float *input, float *output)
{
    __shared__ float tile[TILE + 2 * MOST_RADIUS];
    long long first = (long long)blockIdx.x * TILE;
    for (int at = threadIdx.x; at < TILE + 2 * radius; at += TILE) {
        long long from = first - radius + at;
        tile[at] = from >= 0 && from < n ? input[from] : 0;
    }

    __syncthreads();

    if (first + threadIdx.x >= n)
        return;
    float sum = 0;
    for (int j = 0; j <= 2 * radius; j++)
        sum += tile[threadIdx.x + j];
    output[first + threadIdx.x] = sum;
}

static heddle_status launch_shift(const heddle_call *call)
{
    const heddle_elements_shape *shape = (const heddle_elements_shape *)call->shape;
    unsigned blocks = heddle_ceil_div(shape->n, TILE);
    if (blocks > 0)
        shift_shared_tiles<<<blocks, TILE, 0, heddle_cuda_stream_of(call)>>>(shape->n, (const float *)call->input[0],
                                                                             (float *)call->output[0]);
    return heddle_cuda_launched("02_shared_tiles");
}

static heddle_status launch_stencil(const heddle_call *call)
{
    const heddle_stencil_shape *shape = (const heddle_stencil_shape *)call->shape;
    unsigned blocks = heddle_ceil_div(shape->n, TILE);
    if (blocks > 0)
        stencil_shared_tiles<<<blocks, TILE, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, shape->radius, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("02_shared_tiles");
}

HEDDLE_CUDA_RUNG("shift", "02_shared_tiles", launch_shift)
HEDDLE_CUDA_RUNG("stencil", "02_shared_tiles", launch_stencil)
