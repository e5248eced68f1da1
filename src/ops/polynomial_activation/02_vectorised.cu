// polynomial_activation, rung 2: four elements per thread, by 16-byte loads and stores, the degree a constant.
//
// Rung 1 moved 4 bytes per request and looped over terms that it read from constant memory. Here a request moves 16
// bytes, and a kernel for each degree has the terms in its instructions' operands and no loop. Backward reads the input
// again instead of a saved slope: it would be as many bytes, and one more tensor.
//
// Limited by: memory bandwidth.

#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/polynomial_activation/polynomial_activation.h"

template <int degree> __device__ static float horner(const float *terms, float x)
{
    float value = terms[degree];
#pragma unroll
    for (int i = degree - 1; i >= 0; i--)
        value = fmaf(value, x, terms[i]);
    return value;
}

template <int degree> __device__ static float4 horner4(const float *terms, float4 x)
{
    return make_float4(horner<degree>(terms, x.x), horner<degree>(terms, x.y), horner<degree>(terms, x.z),
                       horner<degree>(terms, x.w));
}

// input, output: (n); the thread's elements are [first, first + 4), cut off at n.
template <int degree, bool aligned>
__global__ void polynomial_forward_vectorised(int n, heddle_polynomial_terms terms, const float *input, float *output)
{
    size_t first = HEDDLE_VECTOR * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
    if (first + HEDDLE_VECTOR <= (size_t)n) {
        heddle_store4<aligned>(output + first, horner4<degree>(terms.value, heddle_load4<aligned>(input + first)));
        return;
    }
    for (size_t i = first; i < (size_t)n; i++)
        output[i] = horner<degree>(terms.value, input[i]);
}

// input, grad_output, grad_input: (n)
template <int degree, bool aligned>
__global__ void polynomial_backward_vectorised(int n, heddle_polynomial_terms terms, const float *input,
                                               const float *grad_output, float *grad_input)
{
    constexpr int slope = degree > 0 ? degree - 1 : 0; // of a constant: the constant 0
    size_t first = HEDDLE_VECTOR * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
    if (first + HEDDLE_VECTOR <= (size_t)n) {
        float4 x = heddle_load4<aligned>(input + first), grad = heddle_load4<aligned>(grad_output + first);
        float4 y = horner4<slope>(terms.slope, x);
        heddle_store4<aligned>(grad_input + first, make_float4(y.x * grad.x, y.y * grad.y, y.z * grad.z, y.w * grad.w));
        return;
    }
    for (size_t i = first; i < (size_t)n; i++)
        grad_input[i] = horner<slope>(terms.slope, input[i]) * grad_output[i];
}

typedef void forward_kernel(int n, heddle_polynomial_terms terms, const float *input, float *output);
typedef void backward_kernel(int n, heddle_polynomial_terms terms, const float *input, const float *grad_output,
                             float *grad_input);

#define EVERY_DEGREE(KERNEL) KERNEL(0), KERNEL(1), KERNEL(2), KERNEL(3), KERNEL(4), KERNEL(5), KERNEL(6), KERNEL(7)

static heddle_status launch_forward(const heddle_call *call)
{
#define KERNELS(degree)                                                                                                \
    {                                                                                                                  \
        polynomial_forward_vectorised<degree, false>, polynomial_forward_vectorised<degree, true>                      \
    }
    static forward_kernel *const kernels[][2] = {EVERY_DEGREE(KERNELS)};
#undef KERNELS
    const heddle_polynomial_activation_shape *shape = (const heddle_polynomial_activation_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    bool aligned = heddle_aligned16(input) && heddle_aligned16(output);
    unsigned blocks = heddle_cuda_blocks(heddle_ceil_div(shape->n, HEDDLE_VECTOR));
    if (blocks > 0)
        kernels[shape->degree][aligned]<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, heddle_polynomial_terms_of(shape), input, output);
    return heddle_cuda_launched("02_vectorised");
}

static heddle_status launch_backward(const heddle_call *call)
{
#define KERNELS(degree)                                                                                                \
    {                                                                                                                  \
        polynomial_backward_vectorised<degree, false>, polynomial_backward_vectorised<degree, true>                    \
    }
    static backward_kernel *const kernels[][2] = {EVERY_DEGREE(KERNELS)};
#undef KERNELS
    const heddle_polynomial_activation_shape *shape = (const heddle_polynomial_activation_shape *)call->shape;
    const float *input = (const float *)call->input[0], *grad_output = (const float *)call->input[1];
    float *grad_input = (float *)call->output[0];
    bool aligned = heddle_aligned16(input) && heddle_aligned16(grad_output) && heddle_aligned16(grad_input);
    unsigned blocks = heddle_cuda_blocks(heddle_ceil_div(shape->n, HEDDLE_VECTOR));
    if (blocks > 0)
        kernels[shape->degree][aligned]<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, heddle_polynomial_terms_of(shape), input, grad_output, grad_input);
    return heddle_cuda_launched("02_vectorised");
}

HEDDLE_CUDA_RUNG("polynomial_activation_forward", "02_vectorised", launch_forward)
HEDDLE_CUDA_RUNG("polynomial_activation_backward", "02_vectorised", launch_backward)
