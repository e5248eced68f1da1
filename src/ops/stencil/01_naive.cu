// shift and stencil, rung 1: one thread per element, with its neighbours from global memory.
//
// Limited by: loads. The stencil loads every input 2 radius + 1 times, once for each sum it is part of; most hit the
// cache, but each is an instruction and a request. A shift has no such waste.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// input, output: (n)
__global__ void shift_naive(int n, const float *input, float *output)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        output[i] = input[i + 1 < (size_t)n ? i + 1 : 0];
}

__global__ void stencil_naive(int n, int radius, const float *input, float *output)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (long long j = i - radius; j <= i + radius; j++)
        if (j >= 0 && j < n)
            sum += input[j];
    output[i] = sum;
}

static heddle_status launch_shift(const heddle_call *call)
{
    const heddle_elements_shape *shape = (const heddle_elements_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks(shape->n);
    if (blocks > 0)
        shift_naive<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_stencil(const heddle_call *call)
{
    const heddle_stencil_shape *shape = (const heddle_stencil_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks(shape->n);
    if (blocks > 0)
        stencil_naive<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, shape->radius, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("shift", "01_naive", launch_shift)
HEDDLE_CUDA_RUNG("stencil", "01_naive", launch_stencil)
