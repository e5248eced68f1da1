// c (m, n) = a (m, k) times b (k, n), all row-major, by cuBLAS.
//
// cuBLAS sees b as a column-major n x k matrix, a as k x m and c as n x m: the transposed ones. Their product, b first,
// is the transposed c. A row of a row-major matrix is a column to cuBLAS, so the leading dimensions are the row
// lengths.

#include <cublas_v2.h>

cublasStatus_t multiply(cublasHandle_t handle, const float *a, const float *b, float *c, int m, int n, int k)
{
    const float one = 1, zero = 0;

    return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n);
}
