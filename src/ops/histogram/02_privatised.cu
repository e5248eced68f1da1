// histogram, rung 2: each block has its own counts in shared memory, and adds them to the result once.
//
// Rung 1 sent every value to a few cache lines that the whole GPU shares. A block's own counts are on its SM, where an
// atomic takes a fraction of the time and competes only with that block's threads. The blocks fill the GPU once and
// loop, so that few sums are left to add at the end.
//
// Limited by: atomics on shared memory. Lanes of a warp with the same value are serialised: with few bins, most are.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

enum {
    THREADS = 512,
    BLOCKS_AN_SM = 4, // 2048 threads: the most an SM holds
};

// values: (n), counts: (bins), zero before the launch
__global__ void histogram_privatised(int n, int bins, const int *values, int *counts)
{
    extern __shared__ int own[]; // (bins)
    for (int bin = threadIdx.x; bin < bins; bin += THREADS)
        own[bin] = 0;
    __syncthreads();

    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < (size_t)n; i += (size_t)gridDim.x * THREADS)
        atomicAdd(&own[values[i]], 1);
    __syncthreads();

    for (int bin = threadIdx.x; bin < bins; bin += THREADS)
        if (own[bin] > 0)
            atomicAdd(&counts[bin], own[bin]);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_histogram_shape *shape = (const heddle_histogram_shape *)call->shape;
    unsigned needed = heddle_ceil_div(shape->n, THREADS), most = BLOCKS_AN_SM * heddle_cuda_multiprocessors();
    unsigned blocks = needed < most ? needed : most;
    cudaMemsetAsync(call->output[0], 0, shape->bins * sizeof(int), heddle_cuda_stream_of(call));
    if (blocks > 0)
        histogram_privatised<<<blocks, THREADS, shape->bins * sizeof(int), heddle_cuda_stream_of(call)>>>(
            shape->n, shape->bins, (const int *)call->input[0], (int *)call->output[0]);
    return heddle_cuda_launched("02_privatised");
}

HEDDLE_CUDA_RUNG("histogram", "02_privatised", launch)
