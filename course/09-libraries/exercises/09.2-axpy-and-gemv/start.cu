// y = W x + bias by cuBLAS. W: (rows, cols), row-major; x: (cols); bias and y: (rows).
//
// cublasSgemv(handle, transpose, m, n, &alpha, A, lda, x, 1, &beta, y, 1): y = alpha A x + beta y for a column-major
// matrix A of m rows and n columns, or with CUBLAS_OP_T for its transpose.
// cublasSaxpy(handle, n, &alpha, x, 1, y, 1): y += alpha x for vectors of n elements.

#include <cublas_v2.h>

void linear(cublasHandle_t handle, const float *W, const float *x, const float *bias, float *y, int rows, int cols)
{
    const float one = 1, zero = 0;

    // TODO: W is row-major, and the bias is missing
    cublasSgemv(handle, CUBLAS_OP_N, rows, cols, &one, W, rows, x, 1, &zero, y, 1);
}
