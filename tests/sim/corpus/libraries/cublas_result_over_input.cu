// Results that lie over what is read while they are written: a transposed sum in place, vectors shifted by one element,
// the vector of a product, the matrix of a symmetric update and of a triangular solve.
#include "../corpus.h"
#include <cublas_v2.h>

enum { SIDE = 8, COUNT = SIDE * SIDE };

int main()
{
    const cublasOperation_t n = CUBLAS_OP_N, t = CUBLAS_OP_T;
    const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;
    const float one = 1, zero = 0;
    const int s = SIDE;
    float *a = device_ramp<float>(2 * COUNT, 1, 0), *b = device_ramp<float>(COUNT, 1, 0), result[COUNT];
    cublasHandle_t handle;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS)
        return 1;
    cublasStatus_t status = cublasSgeam(handle, t, n, s, s, &one, a, s, &one, b, s, a, s); // expect: bad-call
    if (status != CUBLAS_STATUS_INVALID_VALUE)
        return 1;
    status = cublasSgeam(handle, n, t, s, s, &one, a, s, &one, b, s, b, s); // expect: bad-call
    if (status != CUBLAS_STATUS_INVALID_VALUE)
        return 1;
    cublasSgeam(handle, n, n, s, s, &one, a, s, &zero, b, s, a + 1, s);     // expect: bad-call
    cublasSgemv(handle, n, s, s, &one, a, s, b, 1, &zero, b, 1);            // expect: bad-call
    cublasSgemv(handle, n, s, s, &one, a, s, b, 1, &zero, a + 3, 1);        // expect: bad-call
    cublasSsyrk(handle, lower, n, s, s, &one, a, s, &one, a, s);            // expect: bad-call
    cublasSaxpy(handle, COUNT, &one, a, 1, a + 1, 1);                       // expect: bad-call
    cublasScopy(handle, COUNT, a + 1, 1, a, 1);                             // expect: bad-call
    cublasSswap(handle, s, a, 1, a, -1);                                    // expect: bad-call
    cublasSdgmm(handle, CUBLAS_SIDE_LEFT, s, s, a, s, b, 1, a + s, s);      // expect: bad-call
    cublasSger(handle, s, s, &one, b, 1, b, 1, b, s);                       // expect: bad-call
    cublasStrsm(handle, CUBLAS_SIDE_LEFT, lower, n, CUBLAS_DIAG_UNIT, s, s, // expect: bad-call a+
                &one, a, s, a + 4, s);                                      // expect: bad-call a+
    CHECK(cudaDeviceSynchronize());
    fetch(result, a);
    cublasDestroy(handle);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return 0;
}
