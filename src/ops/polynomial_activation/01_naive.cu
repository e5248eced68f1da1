// polynomial_activation, rung 1: one thread per element.
//
// Limited by: requests to memory. Each moves 4 bytes per thread, and an SM can only have so many on their way.

#include "ops/cuda/rung.h"
#include "ops/polynomial_activation/polynomial_activation.h"

__device__ static float horner(const float *terms, int degree, float x)
{
    float value = terms[degree];
    for (int i = degree - 1; i >= 0; i--)
        value = fmaf(value, x, terms[i]);
    return value;
}

// input, output: (n)
__global__ void polynomial_forward_naive(int n, int degree, heddle_polynomial_terms terms, const float *input,
                                         float *output)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        output[i] = horner(terms.value, degree, input[i]);
}

// input, grad_output, grad_input: (n)
__global__ void polynomial_backward_naive(int n, int degree, heddle_polynomial_terms terms, const float *input,
                                          const float *grad_output, float *grad_input)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        grad_input[i] = horner(terms.slope, degree > 0 ? degree - 1 : 0, input[i]) * grad_output[i];
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_polynomial_activation_shape *shape = (const heddle_polynomial_activation_shape *)call->shape;
    if (shape->n > 0)
        polynomial_forward_naive<<<heddle_cuda_blocks(shape->n), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, shape->degree, heddle_polynomial_terms_of(shape), (const float *)call->input[0],
            (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_polynomial_activation_shape *shape = (const heddle_polynomial_activation_shape *)call->shape;
    if (shape->n > 0)
        polynomial_backward_naive<<<heddle_cuda_blocks(shape->n), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, shape->degree, heddle_polynomial_terms_of(shape), (const float *)call->input[0],
            (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("polynomial_activation_forward", "01_naive", launch_forward)
HEDDLE_CUDA_RUNG("polynomial_activation_backward", "01_naive", launch_backward)
