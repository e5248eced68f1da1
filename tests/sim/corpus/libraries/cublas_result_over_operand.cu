// The result of a product lies over one of its operands: all of it, and a part. The results of a batch lie over one
// another.
#include "../corpus.h"
#include <cublas_v2.h>

enum { SIDE = 8, COUNT = SIDE * SIDE };

int main()
{
    const cublasOperation_t n = CUBLAS_OP_N;
    const float one = 1, zero = 0;
    const int s = SIDE;
    float *a = device_ramp<float>(2 * COUNT, 1, 0), *b = device_ramp<float>(COUNT, 1, 0), result[COUNT];
    cublasHandle_t handle;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS)
        return 1;
    if (cublasSgemm(handle, n, n, SIDE, SIDE, SIDE, &one, a, SIDE, b, SIDE, &zero, b, SIDE)) // expect: bad-call
        return 1;
    float *last = a + COUNT - 1;
    if (cublasSgemm(handle, n, n, SIDE, SIDE, SIDE, &one, a, SIDE, b, SIDE, &zero, last, SIDE)) // expect: bad-call
        return 1;
    if (cublasSgemmStridedBatched(handle, n, n, s, 1, s, &one, b, s, 0, b, s, 0, &zero, a, s, 0, 4)) // expect: bad-call
        return 1;
    fetch(result, a);
    cublasDestroy(handle);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return 0;
}
