// dot by cuBLAS: cublasSdot, whose result stays on the device.
//
// Limited by: memory bandwidth.

#include "ops/cuda/cublas_handle.h"

static heddle_status launch(const heddle_call *call)
{
    const int n = ((const heddle_elements_shape *)call->shape)->n;
    cublasHandle_t handle;
    if (n == 0)
        return HEDDLE_CUDA_CHECK(cudaMemsetAsync(call->output[0], 0, sizeof(float), heddle_cuda_stream_of(call)));
    HEDDLE_TRY(heddle_cublas_handle(call, &handle, NULL));
    HEDDLE_CUDA_TRY(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    heddle_status status = HEDDLE_CUDA_CHECK(cublasSdot(handle, n, (const float *)call->input[0], 1,
                                                        (const float *)call->input[1], 1, (float *)call->output[0]));
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST); // as the handle's other users expect it
    return status;
}

HEDDLE_CUDA_RUNG("dot", "cublas", launch)
