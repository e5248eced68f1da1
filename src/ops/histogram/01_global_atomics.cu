// histogram, rung 1: one thread per value; each adds to its bin in global memory with an atomic.
//
// Without the atomic, two threads with the same value would read the same count, and one addition would be lost.
//
// Limited by: the bins' addresses. Additions to one bin are serialised, and 256 bins are a few cache lines that the
// whole GPU writes to.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// values: (n), counts: (bins), zero before the launch
__global__ void histogram_global_atomics(int n, const int *values, int *counts)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        atomicAdd(&counts[values[i]], 1);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_histogram_shape *shape = (const heddle_histogram_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks(shape->n);
    cudaMemsetAsync(call->output[0], 0, shape->bins * sizeof(int), heddle_cuda_stream_of(call));
    if (blocks > 0)
        histogram_global_atomics<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, (const int *)call->input[0], (int *)call->output[0]);
    return heddle_cuda_launched("01_global_atomics");
}

HEDDLE_CUDA_RUNG("histogram", "01_global_atomics", launch)
