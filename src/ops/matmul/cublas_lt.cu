// matmul by cuBLASLt: cuBLAS's younger interface, which names several algorithms for a shape and lets the caller try
// them. The first call for a shape does that and keeps the fastest; `cublas` takes the one that it guesses.
//
// Limited by: the float32 units.

#include "ops/cuda/cublas_lt_product.h"

#include "heddle/ops.h"

// What is left of a product of no columns: beta * output.
static heddle_status scale_output(const heddle_call *call, const heddle_matmul_shape *shape)
{
    cublasHandle_t handle;
    int64_t elements = (int64_t)shape->m * shape->n;
    float *output = (float *)call->output[0];
    if (shape->beta == 0.0f)
        return HEDDLE_CUDA_CHECK(
            cudaMemsetAsync(output, 0, (size_t)elements * sizeof(float), heddle_cuda_stream_of(call)));
    HEDDLE_TRY(heddle_cublas_handle(call, &handle, NULL));
    return HEDDLE_CUDA_CHECK(cublasSscal_64(handle, elements, &shape->beta, output, 1));
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    if (shape->m == 0 || shape->n == 0)
        return HEDDLE_OK;
    if (shape->k == 0)
        return scale_output(call, shape);
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
    product.type = product.output_type = CUDA_R_32F;
    product.compute = CUBLAS_COMPUTE_32F;
    return heddle_cublas_lt_multiply(call, &product, NULL);
}

HEDDLE_CUDA_RUNG("matmul_forward", "cublas_lt", launch)
