// The host changes what a call of cuBLAS reads while the call may still be under way. Elements between those of a
// vector or between the columns of a matrix, and behind their end, are not the call's.
#include <cublas_v2.h>

#include "../corpus.h"

int main()
{
    const int n = 8, leading = 10;
    const float one = 1, zero = 0;
    float *left = NULL, *right = NULL, *sum = device_zeros<float>(64), *product = device_zeros<float>(64);
    CHECK(cudaMallocManaged(&left, n * leading * sizeof(float)));
    CHECK(cudaMallocManaged(&right, n * leading * sizeof(float)));
    for (int i = 0; i < n * leading; i++)
        left[i] = right[i] = (float)i;
    cublasHandle_t handle;
    cublasCreate(&handle);

    cublasSaxpy(handle, n, &one, left, 2, sum, 1); // expect: missing-wait a+
    left[5] = 4;                                   // between two elements
    left[2 * n] = 4;                               // behind the last
    left[6] = 4;                                   // expect: missing-wait a+
    CHECK(cudaDeviceSynchronize());

    cublasOperation_t as_it_is = CUBLAS_OP_N;
    cublasSgemm( // expect: missing-wait b+
        handle, as_it_is, as_it_is, n, n, n, &one, left, leading, right, leading, &zero, product, n);
    left[leading + n] = 5;  // between two columns
    right[leading + 1] = 5; // expect: missing-wait b+
    printf("%g\n", left[leading + 1]);
    CHECK(cudaDeviceSynchronize());
    left[leading + 1] = right[leading + 1] = 6;
    cublasDestroy(handle);
    CHECK(cudaFree(left));
    CHECK(cudaFree(right));
    CHECK(cudaFree(sum));
    CHECK(cudaFree(product));
    return 0;
}
