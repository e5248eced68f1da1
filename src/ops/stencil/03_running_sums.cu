// stencil, rung 3: a thread computes several sums in a row, each from the one before.
//
// Rung 2 loaded 2 radius + 1 values per sum. The next sum differs by one value that enters and one that leaves: after
// the first, two loads per sum, whatever the radius. Thread t has SUMS sums from t * SUMS on; SUMS is odd, so that the
// 32 lanes of a warp access 32 banks.
//
// Values are added and subtracted in float32: the error grows with the few steps of a thread, not with n.
//
// Limited by: memory bandwidth for a small radius; for a large one by the first sum of each thread.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

enum {
    SUMS = 7, // per thread: odd, for the banks
    THREADS = 256,
    TILE = SUMS * THREADS, // outputs per block
    MOST_RADIUS = 64,
};

// input, output: (n)
__global__ void stencil_running_sums(int n, int radius, const float *input, float *output)
{
    __shared__ float tile[TILE + 2 * MOST_RADIUS];
    long long first = (long long)blockIdx.x * TILE;
    for (int at = threadIdx.x; at < TILE + 2 * radius; at += THREADS) {
        long long from = first - radius + at;
        tile[at] = from >= 0 && from < n ? input[from] : 0;
    }
    __syncthreads();

    float sums[SUMS];
    const float *window = &tile[threadIdx.x * SUMS];
    sums[0] = 0;
    for (int j = 0; j <= 2 * radius; j++)
        sums[0] += window[j];
#pragma unroll
    for (int s = 1; s < SUMS; s++)
        sums[s] = sums[s - 1] + (window[s + 2 * radius] - window[s - 1]);

    __syncthreads(); // all threads have read: the tile takes the sums, to be stored in the order of memory
#pragma unroll
    for (int s = 0; s < SUMS; s++)
        tile[threadIdx.x * SUMS + s] = sums[s];
    __syncthreads();
    for (int at = threadIdx.x; at < TILE && first + at < n; at += THREADS)
        output[first + at] = tile[at];
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_stencil_shape *shape = (const heddle_stencil_shape *)call->shape;
    unsigned blocks = heddle_ceil_div(shape->n, TILE);
    if (blocks > 0)
        stencil_running_sums<<<blocks, THREADS, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, shape->radius, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("03_running_sums");
}

HEDDLE_CUDA_RUNG("stencil", "03_running_sums", launch)
