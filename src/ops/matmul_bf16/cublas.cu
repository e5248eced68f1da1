// matmul_bf16 by cuBLAS: bf16 in and out, summed in float32 on tensor cores. `cublas` uses the algorithm that cuBLAS's
// heuristic picks, `cublas_lt` the fastest of those that cuBLASLt lists, found by trial at the first call for a shape.
//
// Limited by: the tensor cores and their power.

#include "ops/cuda/cublas_lt_product.h"

static heddle_cublas_product product_of(const heddle_call *call)
{
    return heddle_cublas_matmul(call, (const heddle_matmul_shape *)call->shape, CUDA_R_16BF, CUBLAS_COMPUTE_32F);
}

static heddle_status launch_cublas(const heddle_call *call)
{
    const heddle_cublas_product product = product_of(call);
    return heddle_cublas_multiply(call, &product);
}

static heddle_status launch_cublas_lt(const heddle_call *call)
{
    const heddle_cublas_product product = product_of(call);
    return heddle_cublas_lt_multiply(call, &product, NULL);
}

HEDDLE_CUDA_RUNG("matmul_bf16_forward", "cublas", launch_cublas)
HEDDLE_CUDA_RUNG("matmul_bf16_forward", "cublas_lt", launch_cublas_lt)
