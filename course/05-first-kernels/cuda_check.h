// Error checks for CUDA, cuBLAS and cuDNN calls. Copy this file into your project.
//
//     CUDA_CHECK(cudaMalloc(&x, bytes));
//     kernel<<<blocks, threads>>>(x);
//     CUDA_CHECK_LAUNCH();
//
// A failed call prints file, line, the call and the reason, and ends the program. The checks for cuBLAS and cuDNN exist
// if cublas_v2.h or cudnn.h was included before this file.
#ifndef CUDA_CHECK_H
#define CUDA_CHECK_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

static inline void cuda_check_failed(const char *file, int line, const char *call, const char *reason)
{
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, reason);
    exit(EXIT_FAILURE);
}

#define CUDA_CHECK(call)                                                                                               \
    do {                                                                                                               \
        cudaError_t cuda_check_status = (call);                                                                        \
        if (cuda_check_status != cudaSuccess)                                                                          \
            cuda_check_failed(__FILE__, __LINE__, #call, cudaGetErrorString(cuda_check_status));                       \
    } while (0)

// A launch returns nothing. This asks whether it was accepted.
#define CUDA_CHECK_LAUNCH() CUDA_CHECK(cudaGetLastError())

#ifdef CUBLAS_VER_MAJOR
#define CUBLAS_CHECK(call)                                                                                             \
    do {                                                                                                               \
        cublasStatus_t cublas_check_status = (call);                                                                   \
        if (cublas_check_status != CUBLAS_STATUS_SUCCESS)                                                              \
            cuda_check_failed(__FILE__, __LINE__, #call, cublasGetStatusString(cublas_check_status));                  \
    } while (0)
#endif

#ifdef CUDNN_MAJOR
#define CUDNN_CHECK(call)                                                                                              \
    do {                                                                                                               \
        cudnnStatus_t cudnn_check_status = (call);                                                                     \
        if (cudnn_check_status != CUDNN_STATUS_SUCCESS)                                                                \
            cuda_check_failed(__FILE__, __LINE__, #call, cudnnGetErrorString(cudnn_check_status));                     \
    } while (0)
#endif

#endif
