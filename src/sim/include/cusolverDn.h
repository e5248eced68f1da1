// cuSOLVER for dense matrices on the simulated GPU: LU, Cholesky, QR, symmetric eigenvalues, singular values, in four
// types, and the 64-bit functions of the same. Implemented in api/solver.
#pragma once
#define CUSOLVERDN_H_

#include <stdint.h>

#include <cuComplex.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolver_common.h>

typedef struct cusolverDnContext *cusolverDnHandle_t;
typedef struct cusolverDnParams *cusolverDnParams_t;
typedef enum { CUSOLVERDN_GETRF = 0, CUSOLVERDN_POTRF = 1, CUSOLVERDN_SYEVBATCHED = 2 } cusolverDnFunction_t;

#ifdef __cplusplus
extern "C" {
#endif

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t *stream);
cusolverStatus_t cusolverDnSetDeterministicMode(cusolverDnHandle_t handle, cusolverDeterministicMode_t mode);
cusolverStatus_t cusolverDnGetDeterministicMode(cusolverDnHandle_t handle, cusolverDeterministicMode_t *mode);

// T: of the matrices, R: the same as a real number. Then the names that differ for complex types.
#define SIM_SOLVER(L, T, R, gqr, mqr, evd)                                                                             \
    cusolverStatus_t cusolverDn##L##getrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T *A, int lda,           \
                                                     int *lwork);                                                      \
    cusolverStatus_t cusolverDn##L##getrf(cusolverDnHandle_t handle, int m, int n, T *A, int lda, T *work,             \
                                          int *devIpiv, int *devInfo);                                                 \
    cusolverStatus_t cusolverDn##L##getrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n, int nrhs,         \
                                          const T *A, int lda, const int *devIpiv, T *B, int ldb, int *devInfo);       \
    cusolverStatus_t cusolverDn##L##potrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A,    \
                                                     int lda, int *lwork);                                             \
    cusolverStatus_t cusolverDn##L##potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda,      \
                                          T *work, int lwork, int *devInfo);                                           \
    cusolverStatus_t cusolverDn##L##potrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,           \
                                          const T *A, int lda, T *B, int ldb, int *devInfo);                           \
    cusolverStatus_t cusolverDn##L##geqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T *A, int lda,           \
                                                     int *lwork);                                                      \
    cusolverStatus_t cusolverDn##L##geqrf(cusolverDnHandle_t handle, int m, int n, T *A, int lda, T *tau, T *work,     \
                                          int lwork, int *devInfo);                                                    \
    cusolverStatus_t cusolverDn##L##gqr##_bufferSize(cusolverDnHandle_t handle, int m, int n, int k, const T *A,       \
                                                     int lda, const T *tau, int *lwork);                               \
    cusolverStatus_t cusolverDn##L##gqr(cusolverDnHandle_t handle, int m, int n, int k, T *A, int lda, const T *tau,   \
                                        T *work, int lwork, int *devInfo);                                             \
    cusolverStatus_t cusolverDn##L##mqr##_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side,                 \
                                                     cublasOperation_t trans, int m, int n, int k, const T *A,         \
                                                     int lda, const T *tau, const T *C, int ldc, int *lwork);          \
    cusolverStatus_t cusolverDn##L##mqr(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans,     \
                                        int m, int n, int k, const T *A, int lda, const T *tau, T *C, int ldc,         \
                                        T *work, int lwork, int *devInfo);                                             \
    cusolverStatus_t cusolverDn##L##evd##_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,                \
                                                     cublasFillMode_t uplo, int n, const T *A, int lda, const R *W,    \
                                                     int *lwork);                                                      \
    cusolverStatus_t cusolverDn##L##evd(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo,      \
                                        int n, T *A, int lda, R *W, T *work, int lwork, int *devInfo);                 \
    cusolverStatus_t cusolverDn##L##gesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int *lwork);             \
    cusolverStatus_t cusolverDn##L##gesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt, int m,       \
                                          int n, T *A, int lda, R *S, T *U, int ldu, T *VT, int ldvt, T *work,         \
                                          int lwork, R *rwork, int *devInfo);
SIM_SOLVER(S, float, float, orgqr, ormqr, syevd)
SIM_SOLVER(D, double, double, orgqr, ormqr, syevd)
SIM_SOLVER(C, cuComplex, float, ungqr, unmqr, heevd)
SIM_SOLVER(Z, cuDoubleComplex, double, ungqr, unmqr, heevd)
#undef SIM_SOLVER

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *params);
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params);
cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params, cusolverDnFunction_t function,
                                         cusolverAlgMode_t algorithm);
cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                             cudaDataType a_type, const void *A, int64_t lda, cudaDataType compute,
                                             size_t *bytes_on_device, size_t *bytes_on_host);
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                  cudaDataType a_type, void *A, int64_t lda, int64_t *ipiv, cudaDataType compute,
                                  void *on_device, size_t bytes_on_device, void *on_host, size_t bytes_on_host,
                                  int *info);
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasOperation_t trans,
                                  int64_t n, int64_t nrhs, cudaDataType a_type, const void *A, int64_t lda,
                                  const int64_t *ipiv, cudaDataType b_type, void *B, int64_t ldb, int *info);
cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cublasFillMode_t uplo, int64_t n, cudaDataType a_type, const void *A,
                                             int64_t lda, cudaDataType compute, size_t *bytes_on_device,
                                             size_t *bytes_on_host);
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo,
                                  int64_t n, cudaDataType a_type, void *A, int64_t lda, cudaDataType compute,
                                  void *on_device, size_t bytes_on_device, void *on_host, size_t bytes_on_host,
                                  int *info);
cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo,
                                  int64_t n, int64_t nrhs, cudaDataType a_type, const void *A, int64_t lda,
                                  cudaDataType b_type, void *B, int64_t ldb, int *info);
cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                             cudaDataType a_type, const void *A, int64_t lda, cudaDataType tau_type,
                                             const void *tau, cudaDataType compute, size_t *bytes_on_device,
                                             size_t *bytes_on_host);
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                  cudaDataType a_type, void *A, int64_t lda, cudaDataType tau_type, void *tau,
                                  cudaDataType compute, void *on_device, size_t bytes_on_device, void *on_host,
                                  size_t bytes_on_host, int *info);
cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                             cudaDataType a_type, const void *A, int64_t lda, cudaDataType w_type,
                                             const void *W, cudaDataType compute, size_t *bytes_on_device,
                                             size_t *bytes_on_host);
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int64_t n, cudaDataType a_type, void *A, int64_t lda,
                                  cudaDataType w_type, void *W, cudaDataType compute, void *on_device,
                                  size_t bytes_on_device, void *on_host, size_t bytes_on_host, int *info);

#ifdef __cplusplus
}
#endif
