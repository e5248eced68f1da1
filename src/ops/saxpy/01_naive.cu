// saxpy, rung 1: one thread per element.
//
// Limited by: memory bandwidth, as far as 4-byte loads can use it.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// x, y: (n)
__global__ void saxpy_naive(int n, float alpha, const float *x, float *y)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        y[i] = alpha * x[i] + y[i];
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_saxpy_shape *shape = (const heddle_saxpy_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks(shape->n);
    if (blocks > 0)
        saxpy_naive<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, shape->alpha, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("saxpy", "01_naive", launch)
