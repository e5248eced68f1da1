// cuBLASXt on the simulated GPU: matrices in host memory, or on the device, multiplied on the one device there is. The
// calls return when they are done. Implemented in api/blas.
#pragma once
#define CUBLAS_XT_H_

#include <stddef.h>

#include <cublas_v2.h>

typedef struct cublasXtContext *cublasXtHandle_t;
typedef enum { CUBLASXT_PINNING_DISABLED = 0, CUBLASXT_PINNING_ENABLED = 1 } cublasXtPinnedMemMode_t;

#ifdef __cplusplus
extern "C" {
#endif

cublasStatus_t cublasXtCreate(cublasXtHandle_t *handle);
cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle);
cublasStatus_t cublasXtGetNumBoards(int count, int devices[], int *boards);
cublasStatus_t cublasXtMaxBoards(int *boards);
cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[]);
cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int block);
cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int *block);
cublasStatus_t cublasXtSetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t mode);
cublasStatus_t cublasXtGetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t *mode);

#define SIM_CUBLAS_XT(L, T)                                                                                            \
    cublasStatus_t cublasXt##L##gemm(cublasXtHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,      \
                                     size_t m, size_t n, size_t k, const T *alpha, const T *a, size_t lda, const T *b, \
                                     size_t ldb, const T *beta, T *c, size_t ldc);                                     \
    cublasStatus_t cublasXt##L##symm(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, size_t m,  \
                                     size_t n, const T *alpha, const T *a, size_t lda, const T *b, size_t ldb,         \
                                     const T *beta, T *c, size_t ldc);                                                 \
    cublasStatus_t cublasXt##L##syrk(cublasXtHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,          \
                                     size_t n, size_t k, const T *alpha, const T *a, size_t lda, const T *beta, T *c,  \
                                     size_t ldc);                                                                      \
    cublasStatus_t cublasXt##L##trsm(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,            \
                                     cublasOperation_t trans, cublasDiagType_t diag, size_t m, size_t n,               \
                                     const T *alpha, const T *a, size_t lda, T *b, size_t ldb);                        \
    cublasStatus_t cublasXt##L##trmm(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,            \
                                     cublasOperation_t trans, cublasDiagType_t diag, size_t m, size_t n,               \
                                     const T *alpha, const T *a, size_t lda, const T *b, size_t ldb, T *c,             \
                                     size_t ldc);
SIM_CUBLAS_XT(S, float)
SIM_CUBLAS_XT(D, double)
#undef SIM_CUBLAS_XT

#ifdef __cplusplus
}
#endif
