// The activations and their gradients, for one element: shared by the CUDA rungs.
#pragma once

#include <cuda_runtime.h>

#include "ops/activation/activation.h"

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

// Far from zero the product is 0, also at infinity, where the bare formula would give NaN.
__device__ static float times_or_zero(float x, float factor)
{
    return factor == 0.0f ? 0.0f : x * factor;
}

// --- values ---------------------------------------------------------------------------------------------------------

__device__ static float relu_value(float x)
{
    return x < 0.0f ? 0.0f : x; // in this order NaN is preserved
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
