// Activations, first rung: one thread, one element at a time, through the C library's math functions.
//
// Limited by: one function call per element. Left to cpu_vectorised: vector registers and the other cores.

#include "ops/activation/activation.h"

#include <math.h>

#include "heddle/ops.h"

static float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

static float normal_cdf(float x)
{
    const float root_half = 0.707106781f;
    return 0.5f * erfcf(-x * root_half);
}

static float normal_density(float x)
{
    const float inverse_root_two_pi = 0.398942280f;
    return inverse_root_two_pi * expf(-0.5f * x * x);
}

// Far from zero the product is 0, also at infinity, where the bare formula would give NaN.
static float times_or_zero(float x, float factor)
{
    return factor == 0.0f ? 0.0f : x * factor;
}

// --- values ---------------------------------------------------------------------------------------------------------

static float relu_value(float x)
{
    return x < 0.0f ? 0.0f : x; // in this order NaN is preserved
}

static float tanh_value(float x)
{
    return tanhf(x);
}

static float sigmoid_value(float x)
{
    return sigmoid(x);
}

static float elu_value(float x)
{
    return x > 0.0f ? x : expm1f(x);
}

static float gelu_value(float x)
{
    return times_or_zero(x, normal_cdf(x));
}

static float softplus_value(float x)
{
    return (x < 0.0f ? 0.0f : x) + log1pf(expf(-fabsf(x)));
}

static float swish_value(float x)
{
    return times_or_zero(x, sigmoid(x));
}

// --- gradients: of the input x, given the output y and its gradient --------------------------------------------------

static float relu_gradient(float x, float y, float grad)
{
    (void)y;
    return x <= 0.0f ? 0.0f : grad;
}

static float tanh_gradient(float x, float y, float grad)
{
    (void)x;
    return grad * (1.0f - y * y);
}

static float sigmoid_gradient(float x, float y, float grad)
{
    (void)x;
    return grad * (y * (1.0f - y));
}

static float elu_gradient(float x, float y, float grad)
{
    (void)y;
    return x > 0.0f ? grad : grad * expf(x);
}

static float gelu_gradient(float x, float y, float grad)
{
    (void)y;
    return grad * (normal_cdf(x) + times_or_zero(x, normal_density(x)));
}

static float softplus_gradient(float x, float y, float grad)
{
    (void)y;
    return grad * sigmoid(x);
}

static float swish_gradient(float x, float y, float grad)
{
    (void)y;
    float s = sigmoid(x);
    return grad * (s + times_or_zero(x, s * (1.0f - s)));
}

// --- the loops ------------------------------------------------------------------------------------------------------

static heddle_status forward(const heddle_call *call, float (*value)(float x))
{
    const heddle_elements_shape *shape = call->shape;
    const float *input = call->input[0];
    float *output = call->output[0];
    for (int i = 0; i < shape->n; i++)
        output[i] = value(input[i]);
    return HEDDLE_OK;
}

static heddle_status backward(const heddle_call *call, float (*gradient)(float x, float y, float grad))
{
    const heddle_elements_shape *shape = call->shape;
    const float *input = call->input[0], *output = call->input[1], *grad_output = call->input[2];
    float *grad_input = call->output[0];
    for (int i = 0; i < shape->n; i++)
        grad_input[i] = gradient(input[i], output[i], grad_output[i]);
    return HEDDLE_OK;
}

#define DEFINE_NAIVE(name)                                                                                             \
    heddle_status heddle_##name##_forward_cpu_naive(const heddle_call *call)                                           \
    {                                                                                                                  \
        return forward(call, name##_value);                                                                            \
    }                                                                                                                  \
    heddle_status heddle_##name##_backward_cpu_naive(const heddle_call *call)                                          \
    {                                                                                                                  \
        return backward(call, name##_gradient);                                                                        \
    }

HEDDLE_ACTIVATIONS(DEFINE_NAIVE)
