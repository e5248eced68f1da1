// cublas.h: the first form of cuBLAS, without handles, in its few everyday calls; one handle of its own stands behind
// them.
#pragma once
#define CUBLAS_H_

#include <cublas_api.h>

typedef cublasStatus_t cublasStatus;

namespace sim
{
inline cublasHandle_t &blas_handle()
{
    static cublasHandle_t handle = 0;
    if (!handle)
        cublasCreate_v2(&handle);
    return handle;
}
inline cublasOperation_t blas_operation(char letter)
{
    return letter == 'n' || letter == 'N' ? CUBLAS_OP_N : CUBLAS_OP_T;
}
} // namespace sim

inline cublasStatus_t cublasInit()
{
    return sim::blas_handle() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
inline cublasStatus_t cublasShutdown()
{
    cublasStatus_t status = cublasDestroy_v2(sim::blas_handle());
    sim::blas_handle() = 0;
    return status;
}
inline cublasStatus_t cublasGetError()
{
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasAlloc(int n, int size, void **memory)
{
    return cudaMalloc(memory, (size_t)n * (size_t)size) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                       : CUBLAS_STATUS_ALLOC_FAILED;
}
inline cublasStatus_t cublasFree(void *memory)
{
    return cudaFree(memory) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INTERNAL_ERROR;
}
inline void cublasSgemm(char transa, char transb, int m, int n, int k, float alpha, const float *a, int lda,
                        const float *b, int ldb, float beta, float *c, int ldc)
{
    cublasSgemm_v2(sim::blas_handle(), sim::blas_operation(transa), sim::blas_operation(transb), m, n, k, &alpha, a,
                   lda, b, ldb, &beta, c, ldc);
}
inline void cublasSgemv(char trans, int m, int n, float alpha, const float *a, int lda, const float *x, int incx,
                        float beta, float *y, int incy)
{
    cublasSgemv_v2(sim::blas_handle(), sim::blas_operation(trans), m, n, &alpha, a, lda, x, incx, &beta, y, incy);
}
inline void cublasSaxpy(int n, float alpha, const float *x, int incx, float *y, int incy)
{
    cublasSaxpy_v2(sim::blas_handle(), n, &alpha, x, incx, y, incy);
}
inline void cublasSscal(int n, float alpha, float *x, int incx)
{
    cublasSscal_v2(sim::blas_handle(), n, &alpha, x, incx);
}
inline float cublasSdot(int n, const float *x, int incx, const float *y, int incy)
{
    float result = 0;
    cublasSdot_v2(sim::blas_handle(), n, x, incx, y, incy, &result);
    return result;
}
inline float cublasSnrm2(int n, const float *x, int incx)
{
    float result = 0;
    cublasSnrm2_v2(sim::blas_handle(), n, x, incx, &result);
    return result;
}
