// cuBLASXt: the handle and its settings. Its products are in gemm.c and matrices.c, beside cuBLAS's.
#include <limits.h>
#include <stdlib.h>

#include "api/blas/blas.h"
#include "sim/runtime_api.h"

enum { DEFAULT_BLOCK = 2048 };

cublasStatus_t cublasXtCreate(cublasXtHandle_t *handle)
{
    if (!handle)
        return sim_blas_wrong(SIM_BLAS_CALL("cublasXtCreate"), "the output argument for the handle is NULL");
    *handle = calloc(1, sizeof **handle);
    if (!*handle)
        return CUBLAS_STATUS_ALLOC_FAILED;
    (*handle)->blas.stream = cudaStreamPerThread; // not one that the program knows
    (*handle)->block = DEFAULT_BLOCK;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle)
{
    free(handle);
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

static int device_count(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[])
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    for (int i = 0; i < count; i++)
        if (devices[i] < 0 || devices[i] >= device_count())
            return sim_blas_wrong(SIM_BLAS_CALL("cublasXtDeviceSelect"), "there is no device %d", devices[i]);
    if (count < 1)
        return sim_blas_wrong(SIM_BLAS_CALL("cublasXtDeviceSelect"), "%d devices", count);
    return CUBLAS_STATUS_SUCCESS;
}

// NOLINTNEXTLINE(readability-non-const-parameter): as declared by cuBLASXt
cublasStatus_t cublasXtGetNumBoards(int count, int devices[], int *boards)
{
    (void)devices;
    *boards = count;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtMaxBoards(int *boards)
{
    *boards = device_count();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int block)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (block < 1)
        return sim_blas_wrong(SIM_BLAS_CALL("cublasXtSetBlockDim"), "blocks of %d elements", block);
    handle->block = block;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int *block)
{
    *block = handle->block;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtSetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t mode)
{
    handle->pinning = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtGetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t *mode)
{
    *mode = handle->pinning;
    return CUBLAS_STATUS_SUCCESS;
}

bool sim_blas_xt_fits(const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (sizes[i] > INT_MAX)
            return false;
    return true;
}

cublasStatus_t sim_blas_xt_wait(cublasXtHandle_t handle, cublasStatus_t queued)
{
    if (queued != CUBLAS_STATUS_SUCCESS)
        return queued;
    return cudaStreamSynchronize(handle->blas.stream) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                     : CUBLAS_STATUS_EXECUTION_FAILED;
}
