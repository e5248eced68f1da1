// linear's forward and backward as matrix products, and the bias gradient as a sum of rows. The rungs that differ only
// in their kernel share it.

#include "heddle/ops.h"
#include "ops/linear/linear.h"
#include "ops/pieces.h"

// output (n, out) = input (n, in) * weight (out, in)ᵀ + bias (out)
heddle_status heddle_linear_forward_by(const heddle_gemm_kernel *kernel, const heddle_call *call)
{
    const heddle_linear_shape *shape = call->shape;
    heddle_gemm gemm = {.m = shape->n,
                        .n = shape->out,
                        .k = shape->in,
                        .transpose_b = true,
                        .a = call->input[0],
                        .b = call->input[1],
                        .bias = call->input[2],
                        .c = call->output[0],
                        .leading_a = shape->in,
                        .leading_b = shape->in,
                        .leading_c = shape->out,
                        .alpha = 1.0f};
    heddle_gemm_run(call->pool, kernel, &gemm, call->workspace);
    return HEDDLE_OK;
}

size_t heddle_linear_forward_workspace_by(const heddle_gemm_kernel *kernel, const void *shape_, int threads)
{
    const heddle_linear_shape *shape = shape_;
    return heddle_gemm_workspace(kernel, shape->n, shape->out, shape->in, threads);
}

// grad_input (n, in) = grad_output (n, out) * weight (out, in)
static void grad_input_product(const heddle_gemm_kernel *kernel, const heddle_call *call)
{
    const heddle_linear_shape *shape = call->shape;
    heddle_gemm gemm = {.m = shape->n,
                        .n = shape->in,
                        .k = shape->out,
                        .a = call->input[2],
                        .b = call->input[1],
                        .c = call->output[0],
                        .leading_a = shape->out,
                        .leading_b = shape->in,
                        .leading_c = shape->in,
                        .alpha = 1.0f};
    heddle_gemm_run(call->pool, kernel, &gemm, call->workspace);
}

// grad_weight (out, in) = grad_output (n, out)ᵀ * input (n, in)
static void grad_weight_product(const heddle_gemm_kernel *kernel, const heddle_call *call)
{
    const heddle_linear_shape *shape = call->shape;
    heddle_gemm gemm = {.m = shape->out,
                        .n = shape->in,
                        .k = shape->n,
                        .transpose_a = true,
                        .a = call->input[2],
                        .b = call->input[0],
                        .c = call->output[1],
                        .leading_a = shape->out,
                        .leading_b = shape->in,
                        .leading_c = shape->in,
                        .alpha = 1.0f};
    heddle_gemm_run(call->pool, kernel, &gemm, call->workspace);
}

enum { BIAS_WIDTH = 128 }; // columns summed at a time: 1 KiB of double sums

// Columns [begin, end) of grad_bias (out) = the sum over the rows of grad_output (n, out).
static void grad_bias_columns(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_linear_shape *shape = call->shape;
    const float *grad_output = call->input[2];
    float *grad_bias = call->output[2];
    double sum[BIAS_WIDTH] = {0};
    for (int i = 0; i < shape->n; i++) {
        const float *row = grad_output + (size_t)i * shape->out + begin;
        for (size_t j = 0; j < end - begin; j++)
            sum[j] += row[j];
    }
    for (size_t j = 0; j < end - begin; j++)
        grad_bias[begin + j] = (float)sum[j];
}

heddle_status heddle_linear_backward_by(const heddle_gemm_kernel *kernel, const heddle_call *call)
{
    const heddle_linear_shape *shape = call->shape;
    if (call->output[0])
        grad_input_product(kernel, call);
    if (call->output[1])
        grad_weight_product(kernel, call);
    if (call->output[2])
        heddle_pieces_run(call->pool, (size_t)shape->out, BIAS_WIDTH, grad_bias_columns, (void *)call);
    return HEDDLE_OK;
}

size_t heddle_linear_backward_workspace_by(const heddle_gemm_kernel *kernel, const void *shape_, int threads)
{
    const heddle_linear_shape *shape = shape_;
    size_t for_input = heddle_gemm_workspace(kernel, shape->n, shape->in, shape->out, threads);
    size_t for_weight = heddle_gemm_workspace(kernel, shape->out, shape->in, shape->n, threads);
    return for_input > for_weight ? for_input : for_weight;
}
