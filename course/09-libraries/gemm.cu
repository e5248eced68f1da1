// c = a * b with cuBLAS, for matrices stored row by row. cuBLAS stores them column by column: see the call.

#include <cublas_v2.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK_CUDA(call)                                                                                               \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define CHECK_CUBLAS(call)                                                                                             \
    do {                                                                                                               \
        cublasStatus_t status = (call);                                                                                \
        if (status != CUBLAS_STATUS_SUCCESS) {                                                                         \
            fprintf(stderr, "%s:%d: cuBLAS status %d\n", __FILE__, __LINE__, (int)status);                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { M = 2, N = 3, K = 2 };

int main(void)
{
    float a[M * K] = {1, 2, 3, 4}, b[K * N] = {1, 0, 2, 0, 1, 3}, c[M * N], *device_a, *device_b, *device_c;
    const float one = 1, zero = 0;
    cublasHandle_t handle;
    CHECK_CUBLAS(cublasCreate(&handle));
    CHECK_CUDA(cudaMalloc(&device_a, sizeof a));
    CHECK_CUDA(cudaMalloc(&device_b, sizeof b));
    CHECK_CUDA(cudaMalloc(&device_c, sizeof c));
    CHECK_CUDA(cudaMemcpy(device_a, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(device_b, b, sizeof b, cudaMemcpyHostToDevice));

    // Our row-major (M, N) matrix c is, to cuBLAS, the column-major (N, M) matrix cᵀ = bᵀ aᵀ: swap the operands.
    CHECK_CUBLAS(
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, device_b, N, device_a, K, &zero, device_c, N));

    CHECK_CUDA(cudaMemcpy(c, device_c, sizeof c, cudaMemcpyDeviceToHost));
    for (int row = 0; row < M; row++)
        printf("%g %g %g\n", c[row * N], c[row * N + 1], c[row * N + 2]);
    CHECK_CUDA(cudaFree(device_a));
    CHECK_CUDA(cudaFree(device_b));
    CHECK_CUDA(cudaFree(device_c));
    CHECK_CUBLAS(cublasDestroy(handle));
    return 0;
}
