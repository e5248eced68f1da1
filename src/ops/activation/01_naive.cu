// Activations, rung 1: a thread an element.
//
// Limited by: bytes, as far as one load in flight a thread can ask for them; tanh, gelu and the like by their
// instructions.

#include "heddle/ops.h"
#include "ops/activation/activation.h"
#include "ops/cuda/rung.h"

__device__ static float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

__device__ static float normal_cdf(float x)
{
    const float root_half = 0.707106781f;
    return 0.5f * erfcf(-x * root_half);
}

__device__ static float normal_density(float x)
{
    const float inverse_root_two_pi = 0.398942280f;
    return inverse_root_two_pi * expf(-0.5f * x * x);
}

// Far from zero the product is 0, also at infinity, where the bare formula would say NaN.
__device__ static float times_or_zero(float x, float factor)
{
    return factor == 0.0f ? 0.0f : x * factor;
}

// --- values ---------------------------------------------------------------------------------------------------------

__device__ static float relu_value(float x)
{
    return x < 0.0f ? 0.0f : x; // in this order a NaN comes through
}

__device__ static float tanh_value(float x)
{
    return tanhf(x);
}

__device__ static float sigmoid_value(float x)
{
    return sigmoid(x);
}

__device__ static float elu_value(float x)
{
    return x > 0.0f ? x : expm1f(x);
}

__device__ static float gelu_value(float x)
{
    return times_or_zero(x, normal_cdf(x));
}

__device__ static float softplus_value(float x)
{
    return (x < 0.0f ? 0.0f : x) + log1pf(expf(-fabsf(x)));
}

__device__ static float swish_value(float x)
{
    return times_or_zero(x, sigmoid(x));
}

// --- gradients: of the input x, given the output y and its gradient -------------------------------------------------

__device__ static float relu_gradient(float x, float, float grad)
{
    return x <= 0.0f ? 0.0f : grad;
}

__device__ static float tanh_gradient(float, float y, float grad)
{
    return grad * (1.0f - y * y);
}

__device__ static float sigmoid_gradient(float, float y, float grad)
{
    return grad * (y * (1.0f - y));
}

__device__ static float elu_gradient(float x, float, float grad)
{
    return x > 0.0f ? grad : grad * expf(x);
}

__device__ static float gelu_gradient(float x, float, float grad)
{
    return grad * (normal_cdf(x) + times_or_zero(x, normal_density(x)));
}

__device__ static float softplus_gradient(float x, float, float grad)
{
    return grad * sigmoid(x);
}

__device__ static float swish_gradient(float x, float, float grad)
{
    float s = sigmoid(x);
    return grad * (s + times_or_zero(x, s * (1.0f - s)));
}

// --- kernels --------------------------------------------------------------------------------------------------------

template <float (*value)(float x)> __global__ void activation_forward(int n, const float *input, float *output)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        output[i] = value(input[i]);
}

template <float (*gradient)(float x, float y, float grad)>
__global__ void activation_backward(int n, const float *input, const float *output, const float *grad_output,
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
        activation_forward<value><<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

template <float (*gradient)(float x, float y, float grad)> static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_elements_shape *shape = (const heddle_elements_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks(shape->n);
    if (blocks > 0)
        activation_backward<gradient><<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
            (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

#define BOTH_WAYS(name)                                                                                                \
    HEDDLE_CUDA_RUNG(#name "_forward", "01_naive", launch_forward<name##_value>)                                       \
    HEDDLE_CUDA_RUNG(#name "_backward", "01_naive", launch_backward<name##_gradient>)

HEDDLE_ACTIVATIONS(BOTH_WAYS)
