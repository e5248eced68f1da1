// y = W x + bias by cuBLAS. W: (rows, cols), row-major; x: (cols); bias and y: (rows).
//
// To cuBLAS the row-major W is a column-major matrix of cols rows and rows columns, the transpose of what we mean. So
// it is transposed back with CUBLAS_OP_T. y holds garbage before, hence beta = 0; the bias is added to the product.

#include <cublas_v2.h>

void linear(cublasHandle_t handle, const float *W, const float *x, const float *bias, float *y, int rows, int cols)
{
    const float one = 1, zero = 0;

    cublasSgemv(handle, CUBLAS_OP_T, cols, rows, &one, W, cols, x, 1, &zero, y, 1);
    cublasSaxpy(handle, rows, &one, bias, 1, y, 1);
}
