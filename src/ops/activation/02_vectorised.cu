// Activations, rung 2: four elements per thread, by 16-byte loads and stores.
//
// It takes a quarter of rung 1's requests for the same bytes, and four independent elements hide each other's
// instruction latency.
//
// Limited by: memory bandwidth; gelu and softplus by their exponentials and polynomials.

#include "heddle/ops.h"
#include "ops/activation/functions.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

// input, output: (n)
template <float (*value)(float x), bool aligned>
__global__ void activation_forward_vectorised(int n, const float *input, float *output)
{
    size_t first = HEDDLE_VECTOR * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
    if (first + HEDDLE_VECTOR <= (size_t)n) {
        float4 x = heddle_load4<aligned>(input + first);
        heddle_store4<aligned>(output + first, make_float4(value(x.x), value(x.y), value(x.z), value(x.w)));
        return;
    }
    for (size_t i = first; i < (size_t)n; i++)
        output[i] = value(input[i]);
}

// input, output, grad_output, grad_input: (n)
template <float (*gradient)(float x, float y, float grad), bool aligned>
__global__ void activation_backward_vectorised(int n, const float *input, const float *output, const float *grad_output,
                                               float *grad_input)
{
    size_t first = HEDDLE_VECTOR * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
    if (first + HEDDLE_VECTOR <= (size_t)n) {
        float4 x = heddle_load4<aligned>(input + first), y = heddle_load4<aligned>(output + first);
        float4 grad = heddle_load4<aligned>(grad_output + first);
        heddle_store4<aligned>(grad_input + first, make_float4(gradient(x.x, y.x, grad.x), gradient(x.y, y.y, grad.y),
                                                               gradient(x.z, y.z, grad.z), gradient(x.w, y.w, grad.w)));
        return;
    }
    for (size_t i = first; i < (size_t)n; i++)
        grad_input[i] = gradient(input[i], output[i], grad_output[i]);
}

template <float (*value)(float x)> static heddle_status launch_forward(const heddle_call *call)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    unsigned blocks = heddle_cuda_blocks(heddle_ceil_div(n, HEDDLE_VECTOR));
    bool aligned = heddle_aligned16(input) && heddle_aligned16(output);
    if (blocks > 0)
        (aligned ? activation_forward_vectorised<value, true>
                 : activation_forward_vectorised<value,
                                                 false>)<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            n, input, output);
    return heddle_cuda_launched("02_vectorised");
}

template <float (*gradient)(float x, float y, float grad)> static heddle_status launch_backward(const heddle_call *call)
{
    int n = ((const heddle_elements_shape *)call->shape)->n;
    const float *input = (const float *)call->input[0], *output = (const float *)call->input[1];
    const float *grad_output = (const float *)call->input[2];
    float *grad_input = (float *)call->output[0];
    unsigned blocks = heddle_cuda_blocks(heddle_ceil_div(n, HEDDLE_VECTOR));
    bool aligned = heddle_aligned16(input) && heddle_aligned16(output) && heddle_aligned16(grad_output) &&
                   heddle_aligned16(grad_input);
    if (blocks > 0)
        (aligned
             ? activation_backward_vectorised<gradient, true>
             : activation_backward_vectorised<gradient,
                                              false>)<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            n, input, output, grad_output, grad_input);
    return heddle_cuda_launched("02_vectorised");
}

#define BOTH_WAYS(name)                                                                                                \
    HEDDLE_CUDA_RUNG(#name "_forward", "02_vectorised", launch_forward<name##_value>)                                  \
    HEDDLE_CUDA_RUNG(#name "_backward", "02_vectorised", launch_backward<name##_gradient>)

HEDDLE_ACTIVATIONS(BOTH_WAYS)
