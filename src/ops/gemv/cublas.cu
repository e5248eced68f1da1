// gemv by cuBLAS: cublasSgemv. Its matrices are column-major, so heddle's are transposed already.
//
// Limited by: memory bandwidth.

#include "ops/cuda/cublas_handle.h"

static heddle_status launch(const heddle_call *call)
{
    const heddle_gemv_shape *shape = (const heddle_gemv_shape *)call->shape;
    const float one = 1, zero = 0;
    const size_t outputs = shape->transpose ? shape->n : shape->m;
    cublasHandle_t handle;
    if (shape->m == 0 || shape->n == 0)
        return HEDDLE_CUDA_CHECK(
            cudaMemsetAsync(call->output[0], 0, outputs * sizeof(float), heddle_cuda_stream_of(call)));
    HEDDLE_TRY(heddle_cublas_handle(call, &handle, NULL));
    return HEDDLE_CUDA_CHECK(cublasSgemv(handle, shape->transpose ? CUBLAS_OP_N : CUBLAS_OP_T, shape->n, shape->m, &one,
                                         (const float *)call->input[0], shape->n, (const float *)call->input[1], 1,
                                         &zero, (float *)call->output[0], 1));
}

HEDDLE_CUDA_RUNG("gemv", "cublas", launch)
