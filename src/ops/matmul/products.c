// matmul's forward and backward as plain matrix products, for any transposition. The rungs that differ only in their
// kernel share it.

#include "heddle/ops.h"
#include "ops/matmul/matmul.h"

static heddle_gemm forward_product(const heddle_matmul_shape *shape)
{
    return (heddle_gemm){
        .m = shape->m,
        .n = shape->n,
        .k = shape->k,
        .transpose_a = shape->transpose_a,
        .transpose_b = shape->transpose_b,
        .leading_a = shape->transpose_a ? shape->m : shape->k,
        .leading_b = shape->transpose_b ? shape->k : shape->n,
        .leading_c = shape->n,
        .alpha = shape->alpha,
        .beta = shape->beta,
    };
}

// grad of op(a) (m, k) = alpha * grad_output (m, n) * op(b)ᵀ (n, k). The gradient is stored like a.
static heddle_gemm grad_a_product(const heddle_matmul_shape *shape)
{
    heddle_gemm gemm = {.n = shape->k, .m = shape->m, .k = shape->n, .alpha = shape->alpha};
    int leading_b = shape->transpose_b ? shape->k : shape->n;
    if (shape->transpose_a) { // (k, m) = op(b) (k, n) * grad_outputᵀ (n, m)
        gemm.m = shape->k;
        gemm.n = shape->m;
        gemm.transpose_a = shape->transpose_b;
        gemm.leading_a = leading_b;
        gemm.transpose_b = true;
        gemm.leading_b = shape->n;
    } else {
        gemm.leading_a = shape->n;
        gemm.transpose_b = !shape->transpose_b;
        gemm.leading_b = leading_b;
    }
    gemm.leading_c = gemm.n;
    return gemm;
}

// grad of op(b) (k, n) = alpha * op(a)ᵀ (k, m) * grad_output (m, n).
static heddle_gemm grad_b_product(const heddle_matmul_shape *shape)
{
    heddle_gemm gemm = {.m = shape->k, .n = shape->n, .k = shape->m, .alpha = shape->alpha};
    int leading_a = shape->transpose_a ? shape->m : shape->k;
    if (shape->transpose_b) { // (n, k) = grad_outputᵀ (n, m) * op(a) (m, k)
        gemm.m = shape->n;
        gemm.n = shape->k;
        gemm.transpose_a = true;
        gemm.leading_a = shape->n;
        gemm.transpose_b = shape->transpose_a;
        gemm.leading_b = leading_a;
    } else {
        gemm.transpose_a = !shape->transpose_a;
        gemm.leading_a = leading_a;
        gemm.leading_b = shape->n;
    }
    gemm.leading_c = gemm.n;
    return gemm;
}

heddle_status heddle_matmul_forward_by(const heddle_gemm_kernel *kernel, const heddle_call *call)
{
    heddle_gemm gemm = forward_product(call->shape);
    gemm.a = call->input[0];
    gemm.b = call->input[1];
    gemm.c = call->output[0];
    heddle_gemm_run(call->pool, kernel, &gemm, call->workspace);
    return HEDDLE_OK;
}

heddle_status heddle_matmul_backward_by(const heddle_gemm_kernel *kernel, const heddle_call *call)
{
    const heddle_matmul_shape *shape = call->shape;
    const float *a = call->input[0], *b = call->input[1], *grad_output = call->input[2];
    if (call->output[0]) {
        heddle_gemm gemm = grad_a_product(shape);
        gemm.a = shape->transpose_a ? b : grad_output;
        gemm.b = shape->transpose_a ? grad_output : b;
        gemm.c = call->output[0];
        heddle_gemm_run(call->pool, kernel, &gemm, call->workspace);
    }
    if (call->output[1]) {
        heddle_gemm gemm = grad_b_product(shape);
        gemm.a = shape->transpose_b ? grad_output : a;
        gemm.b = shape->transpose_b ? a : grad_output;
        gemm.c = call->output[1];
        heddle_gemm_run(call->pool, kernel, &gemm, call->workspace);
    }
    return HEDDLE_OK;
}

size_t heddle_matmul_forward_workspace_by(const heddle_gemm_kernel *kernel, const void *shape_, int threads)
{
    const heddle_matmul_shape *shape = shape_;
    return heddle_gemm_workspace(kernel, shape->m, shape->n, shape->k, threads);
}

size_t heddle_matmul_backward_workspace_by(const heddle_gemm_kernel *kernel, const void *shape, int threads)
{
    heddle_gemm grad_a = grad_a_product(shape), grad_b = grad_b_product(shape);
    size_t for_a = heddle_gemm_workspace(kernel, grad_a.m, grad_a.n, grad_a.k, threads);
    size_t for_b = heddle_gemm_workspace(kernel, grad_b.m, grad_b.n, grad_b.k, threads);
    return for_a > for_b ? for_a : for_b;
}
