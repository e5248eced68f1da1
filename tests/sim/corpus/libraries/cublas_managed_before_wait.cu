// What a call of cuBLAS writes to managed memory is there when its stream was waited for, not before. Elements between
// the columns of the result are not the call's.
#include <cublas_v2.h>

#include "../corpus.h"

int main()
{
    const int n = 8, leading = 10;
    const float one = 1, zero = 0;
    float *source = device_ramp<float>(n * n, 0, 1), *copied = NULL, *product = NULL;
    CHECK(cudaMallocManaged(&copied, n * n * sizeof(float)));
    CHECK(cudaMallocManaged(&product, n * leading * sizeof(float)));
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasScopy(handle, n * n, source, 1, copied, 1); // expect: missing-wait a+
    printf("%g\n", copied[3]);                        // expect: missing-wait a+
    CHECK(cudaDeviceSynchronize());
    REQUIRE(copied[3] == 3);

    cublasOperation_t as_it_is = CUBLAS_OP_N;
    cublasSgemm( // expect: missing-wait b+
        handle, as_it_is, as_it_is, n, n, n, &one, source, n, source, n, &zero, product, leading);
    product[n + 1] = 5;
    printf("%g\n", product[leading + 1]); // expect: missing-wait b+
    CHECK(cudaDeviceSynchronize());
    REQUIRE(product[n + 1] == 5);
    cublasDestroy(handle);
    CHECK(cudaFree(source));
    CHECK(cudaFree(copied));
    CHECK(cudaFree(product));
    return 0;
}
