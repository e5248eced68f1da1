// Factors and results on the card, and a handle that takes them from the host, as it does unless told otherwise: cuBLAS
// reads and writes them in host code. Managed memory is there for both.
#include <cublas_v2.h>

#include "../corpus.h"

int main()
{
    const int n = 64;
    float *x = device_ramp<float>(n, 1, 0), *factor = device_ramp<float>(1, 2, 0), *sum = device_zeros<float>(1);
    float *managed = NULL;
    CHECK(cudaMallocManaged(&managed, sizeof *managed));
    *managed = 2;
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSscal(handle, n, managed, x, 1);
    cublasSasum(handle, n, x, 1, managed);
    REQUIRE(*managed == 2 * n);
    cublasSscal(handle, n, factor, x, 1);   // expect: device-pointer
    cublasSdot(handle, n, x, 1, x, 1, sum); // expect: device-pointer
    CHECK(cudaDeviceSynchronize());
    cublasDestroy(handle);
    CHECK(cudaFree(x));
    CHECK(cudaFree(factor));
    CHECK(cudaFree(sum));
    CHECK(cudaFree(managed));
    return 0;
}
