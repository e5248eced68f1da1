// matmul_bf16 by cuBLAS: bf16 in and out, summed in float32 on tensor cores. `cublas` takes the algorithm that cuBLAS
// guesses, `cublas_lt` the fastest of those that cuBLASLt names, by trying them at the first call for a shape.
//
// Limited by: the tensor cores, and the power they may draw.

#include "ops/cuda/cublas_lt_product.h"

#include "heddle/ops.h"

// What is left of a product of no columns: beta * output.
static heddle_status scale_output(const heddle_call *call, const heddle_matmul_shape *shape)
{
    cublasHandle_t handle;
    int64_t elements = (int64_t)shape->m * shape->n;
    if (shape->beta == 0.0f)
        return HEDDLE_CUDA_CHECK(
            cudaMemsetAsync(call->output[0], 0, (size_t)elements * sizeof(uint16_t), heddle_cuda_stream_of(call)));
    HEDDLE_TRY(heddle_cublas_handle(call, &handle, NULL));
    return HEDDLE_CUDA_CHECK(
        cublasScalEx_64(handle, elements, &shape->beta, CUDA_R_32F, call->output[0], CUDA_R_16BF, 1, CUDA_R_32F));
}

static heddle_cublas_product product_of(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    heddle_cublas_product product = {};
    product.m = shape->m;
    product.n = shape->n;
    product.k = shape->k;
    product.transpose_a = shape->transpose_a;
    product.transpose_b = shape->transpose_b;
    product.alpha = shape->alpha;
    product.beta = shape->beta;
    product.a = call->input[0];
    product.b = call->input[1];
    product.output = call->output[0];
    product.type = product.output_type = CUDA_R_16BF;
    product.compute = CUBLAS_COMPUTE_32F;
    return product;
}

static heddle_status launch(const heddle_call *call, bool lt)
{
    heddle_cublas_product product = product_of(call);
    if (product.m == 0 || product.n == 0)
        return HEDDLE_OK;
    if (product.k == 0)
        return scale_output(call, (const heddle_matmul_shape *)call->shape);
    return lt ? heddle_cublas_lt_multiply(call, &product, NULL) : heddle_cublas_multiply(call, &product);
}

static heddle_status launch_cublas(const heddle_call *call)
{
    return launch(call, false);
}

static heddle_status launch_cublas_lt(const heddle_call *call)
{
    return launch(call, true);
}

HEDDLE_CUDA_RUNG("matmul_bf16_forward", "cublas", launch_cublas)
HEDDLE_CUDA_RUNG("matmul_bf16_forward", "cublas_lt", launch_cublas_lt)
