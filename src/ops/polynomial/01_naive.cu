// polynomial, rung 1: one thread per element.
//
// Limited by: the loop around the arithmetic. However far the compiler unrolls it, counter and branch are added to
// every few multiply-adds of one element, and a thread has no second element to work on while a result is in flight.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// input, output: (n)
__global__ void polynomial_naive(int n, int rounds, float factor, float addend, const float *input, float *output)
{
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)n)
        return;
    float value = input[at];
    for (int round = 0; round < rounds; round++)
        value = fmaf(value, factor, addend);
    output[at] = value;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_polynomial_shape *shape = (const heddle_polynomial_shape *)call->shape;
    if (shape->n > 0)
        polynomial_naive<<<heddle_cuda_blocks(shape->n), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, shape->rounds, shape->factor, shape->addend, (const float *)call->input[0],
            (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("polynomial", "01_naive", launch)
