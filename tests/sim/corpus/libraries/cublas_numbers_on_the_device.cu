// Numbers that cuBLAS takes and gives by pointer, in the pointer mode of the device: they lie in memory of the card.
#include <cublas_v2.h>

#include "../corpus.h"

int main()
{
    const int n = 64;
    float *x = device_ramp<float>(n, 1, 0), *y = device_zeros<float>(n), *two = device_ramp<float>(1, 2, 0);
    float *sum = NULL, *pinned = NULL, result;
    CHECK(cudaMalloc(&sum, sizeof *sum));
    CHECK(cudaMallocHost(&pinned, sizeof *pinned));
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
    REQUIRE(cublasSaxpy(handle, n, two, x, 1, y, 1) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasSdot(handle, n, x, 1, y, 1, sum) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasSasum(handle, n, y, 1, pinned) == CUBLAS_STATUS_SUCCESS);
    CHECK(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
    REQUIRE(result == 2 * n && *pinned == 2 * n);
    cublasDestroy(handle);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFree(two));
    CHECK(cudaFree(sum));
    CHECK(cudaFreeHost(pinned));
    return 0;
}
