// c = a * b with cuBLAS, for matrices stored row by row. cuBLAS stores them column by column: see the call.

#include <cublas_v2.h>

#include "../05-first-kernels/cuda_check.h"

enum { M = 2, N = 3, K = 2 };

int main(void)
{
    float a[M * K] = {1, 2, 3, 4}, b[K * N] = {1, 0, 2, 0, 1, 3}, c[M * N], *device_a, *device_b, *device_c;
    const float one = 1, zero = 0;
    cublasHandle_t handle;
    CUBLAS_CHECK(cublasCreate(&handle));
    CUDA_CHECK(cudaMalloc(&device_a, sizeof a));
    CUDA_CHECK(cudaMalloc(&device_b, sizeof b));
    CUDA_CHECK(cudaMalloc(&device_c, sizeof c));
    CUDA_CHECK(cudaMemcpy(device_a, a, sizeof a, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_b, b, sizeof b, cudaMemcpyHostToDevice));

    // Our row-major (M, N) matrix c is, to cuBLAS, the column-major (N, M) matrix cᵀ = bᵀ aᵀ: swap the operands.
    CUBLAS_CHECK(
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, device_b, N, device_a, K, &zero, device_c, N));

    CUDA_CHECK(cudaMemcpy(c, device_c, sizeof c, cudaMemcpyDeviceToHost));
    for (int row = 0; row < M; row++)
        printf("%g %g %g\n", c[row * N], c[row * N + 1], c[row * N + 2]);
    CUDA_CHECK(cudaFree(device_a));
    CUDA_CHECK(cudaFree(device_b));
    CUDA_CHECK(cudaFree(device_c));
    CUBLAS_CHECK(cublasDestroy(handle));
    return 0;
}
