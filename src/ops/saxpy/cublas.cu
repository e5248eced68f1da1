// saxpy by cuBLAS: cublasSaxpy.
//
// Limited by: memory bandwidth.

#include "ops/cuda/cublas_handle.h"

static heddle_status launch(const heddle_call *call)
{
    const heddle_saxpy_shape *shape = (const heddle_saxpy_shape *)call->shape;
    cublasHandle_t handle;
    if (shape->n == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_cublas_handle(call, &handle, NULL));
    return HEDDLE_CUDA_CHECK(
        cublasSaxpy(handle, shape->n, &shape->alpha, (const float *)call->input[0], 1, (float *)call->output[0], 1));
}

HEDDLE_CUDA_RUNG("saxpy", "cublas", launch)
