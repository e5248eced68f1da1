// linear's gradients by cuBLAS: two products, and the bias's gradient as a product with ones.
//
// Limited by: the float32 units, and a third pass over grad_output for the bias.

#include "ops/cuda/cublas_handle.h"

#include "ops/cuda/scratch.h"

enum { BLOCK = 256 }; // threads: one thread per element

__global__ static void fill_with_ones(float *values, int count)
{
    int at = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (at < count)
        values[at] = 1;
}

static heddle_status multiply(const heddle_call *call, int m, int n, int k, const void *a, bool transpose_a,
                              const void *b, void *output)
{
    heddle_cublas_product product = {};
    if (!output)
        return HEDDLE_OK;
    product.m = m;
    product.n = n;
    product.k = k;
    product.transpose_a = transpose_a;
    product.alpha = 1;
    product.a = a;
    product.b = b;
    product.output = output;
    product.type = product.output_type = CUDA_R_32F;
    product.compute = CUBLAS_COMPUTE_32F;
    return heddle_cublas_multiply(call, &product);
}

// grad_bias (1, out) = ones (1, n) * grad_output (n, out). The ones are stored after cuBLAS's own workspace.
static heddle_status sum_rows(const heddle_call *call, const heddle_linear_shape *shape)
{
    void *scratch = NULL;
    if (!call->output[2] || shape->n == 0)
        return multiply(call, 1, shape->out, 0, NULL, false, NULL, call->output[2]);
    HEDDLE_TRY(heddle_cuda_scratch(call, HEDDLE_CUBLAS_WORKSPACE + (size_t)shape->n * sizeof(float), &scratch));
    float *ones = (float *)((char *)scratch + HEDDLE_CUBLAS_WORKSPACE);
    fill_with_ones<<<heddle_ceil_div(shape->n, BLOCK), BLOCK, 0, heddle_cuda_stream_of(call)>>>(ones, shape->n);
    HEDDLE_CUDA_TRY(cudaGetLastError());
    return multiply(call, 1, shape->out, shape->n, ones, false, call->input[2], call->output[2]);
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_linear_shape *shape = (const heddle_linear_shape *)call->shape;
    const void *input = call->input[0], *weight = call->input[1], *grad_output = call->input[2];
    // grad_input (n, in) = grad_output (n, out) * weight (out, in)
    HEDDLE_TRY(multiply(call, shape->n, shape->in, shape->out, grad_output, false, weight, call->output[0]));
    // grad_weight (out, in) = grad_output (n, out)ᵀ * input (n, in)
    HEDDLE_TRY(multiply(call, shape->out, shape->in, shape->n, grad_output, true, input, call->output[1]));
    return sum_rows(call, shape);
}

HEDDLE_CUDA_RUNG("linear_backward", "cublas", launch_backward)
