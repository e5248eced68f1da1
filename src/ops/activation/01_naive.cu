// Activations, rung 1: one thread per element.
//
// Limited by: memory bandwidth, as far as one load in flight per thread can use it; tanh, gelu and similar functions by
// their instructions.

#include "heddle/ops.h"
#include "ops/activation/functions.h"
#include "ops/cuda/rung.h"

template <float (*value)(float x)> __global__ void activation_forward_naive(int n, const float *input, float *output)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        output[i] = value(input[i]);
}

template <float (*gradient)(float x, float y, float grad)>
__global__ void activation_backward_naive(int n, const float *input, const float *output, const float *grad_output,
                                          float *grad_input)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        grad_input[i] = gradient(input[i], output[i], grad_output[i]);
}

template <float (*value)(float x)> static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_elements_shape *shape = (const heddle_elements_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks(shape->n);
    if (blocks > 0)
        activation_forward_naive<value><<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

template <float (*gradient)(float x, float y, float grad)> static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_elements_shape *shape = (const heddle_elements_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks(shape->n);
    if (blocks > 0)
        activation_backward_naive<gradient><<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
            (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

#define BOTH_WAYS(name)                                                                                                \
    HEDDLE_CUDA_RUNG(#name "_forward", "01_naive", launch_forward<name##_value>)                                       \
    HEDDLE_CUDA_RUNG(#name "_backward", "01_naive", launch_backward<name##_gradient>)

HEDDLE_ACTIVATIONS(BOTH_WAYS)
