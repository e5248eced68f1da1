// matmul by cuBLAS: heddle's rungs are measured against it. `cublas` multiplies in float32; `cublas_tf32` uses tensor
// cores with 10 bits of mantissa.
//
// Limited by: cublas by the float32 units; cublas_tf32 by the tensor cores, and by memory bandwidth if k is small.

#include "ops/cuda/cublas_handle.h"

static heddle_status forward(const heddle_call *call, cublasComputeType_t compute)
{
    const heddle_cublas_product product =
        heddle_cublas_matmul(call, (const heddle_matmul_shape *)call->shape, CUDA_R_32F, compute);
    return heddle_cublas_multiply(call, &product);
}

// A gradient (rows, columns) = alpha * op(left) * op(right), summed over `inner`.
static heddle_status gradient(const heddle_call *call, heddle_cublas_product product, const void *left,
                              bool transpose_left, const void *right, bool transpose_right, void *output)
{
    if (!output)
        return HEDDLE_OK;
    product.beta = 0;
    product.a = left;
    product.b = right;
    product.transpose_a = transpose_left;
    product.transpose_b = transpose_right;
    product.output = output;
    return heddle_cublas_multiply(call, &product);
}

// grad of op(a) (m, k) = alpha * grad_output (m, n) * op(b)ᵀ. If a is stored (k, m), so is its gradient: op(b) *
// grad_outputᵀ.
static heddle_status gradient_a(const heddle_call *call, cublasComputeType_t compute)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const void *b = call->input[1], *grad_output = call->input[2];
    heddle_cublas_product product = heddle_cublas_matmul(call, shape, CUDA_R_32F, compute);
    product.k = shape->n;
    if (shape->transpose_a) {
        product.m = shape->k;
        product.n = shape->m;
        return gradient(call, product, b, shape->transpose_b, grad_output, true, call->output[0]);
    }
    product.m = shape->m;
    product.n = shape->k;
    return gradient(call, product, grad_output, false, b, !shape->transpose_b, call->output[0]);
}

// grad of op(b) (k, n) = alpha * op(a)ᵀ * grad_output (m, n). If b is stored (n, k), so is its gradient: grad_outputᵀ *
// op(a).
static heddle_status gradient_b(const heddle_call *call, cublasComputeType_t compute)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const void *a = call->input[0], *grad_output = call->input[2];
    heddle_cublas_product product = heddle_cublas_matmul(call, shape, CUDA_R_32F, compute);
    product.k = shape->m;
    if (shape->transpose_b) {
        product.m = shape->n;
        product.n = shape->k;
        return gradient(call, product, grad_output, true, a, shape->transpose_a, call->output[1]);
    }
    product.m = shape->k;
    product.n = shape->n;
    return gradient(call, product, a, !shape->transpose_a, grad_output, false, call->output[1]);
}

static heddle_status launch_forward(const heddle_call *call)
{
    return forward(call, CUBLAS_COMPUTE_32F);
}

static heddle_status launch_forward_tf32(const heddle_call *call)
{
    return forward(call, CUBLAS_COMPUTE_32F_FAST_TF32);
}

static heddle_status launch_backward(const heddle_call *call)
{
    HEDDLE_TRY(gradient_a(call, CUBLAS_COMPUTE_32F));
    return gradient_b(call, CUBLAS_COMPUTE_32F);
}

static heddle_status launch_backward_tf32(const heddle_call *call)
{
    HEDDLE_TRY(gradient_a(call, CUBLAS_COMPUTE_32F_FAST_TF32));
    return gradient_b(call, CUBLAS_COMPUTE_32F_FAST_TF32);
}

HEDDLE_CUDA_RUNG("matmul_forward", "cublas", launch_forward)
HEDDLE_CUDA_RUNG("matmul_forward", "cublas_tf32", launch_forward_tf32)
HEDDLE_CUDA_RUNG("matmul_backward", "cublas", launch_backward)
HEDDLE_CUDA_RUNG("matmul_backward", "cublas_tf32", launch_backward_tf32)
