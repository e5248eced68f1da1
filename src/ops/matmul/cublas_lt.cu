// matmul by cuBLASLt: cuBLAS's newer interface, which lists several algorithms for a shape so that the caller can try
// them. The first call for a shape tries them and keeps the fastest; `cublas` uses the one that its heuristic picks.
//
// Limited by: the float32 units.

#include "ops/cuda/cublas_lt_product.h"

static heddle_status launch(const heddle_call *call)
{
    const heddle_cublas_product product =
        heddle_cublas_matmul(call, (const heddle_matmul_shape *)call->shape, CUDA_R_32F, CUBLAS_COMPUTE_32F);
    return heddle_cublas_lt_multiply(call, &product, NULL);
}

HEDDLE_CUDA_RUNG("matmul_forward", "cublas_lt", launch)
