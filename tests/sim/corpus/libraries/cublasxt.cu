// cuBLASXt: matrices in host memory, pinned, managed and on the device, in one call and another.
#include "../corpus.h"
#include <cublasXt.h>

const int N = 3;

#define DONE(call) REQUIRE((call) == CUBLAS_STATUS_SUCCESS)

int main()
{
    const float a[] = {1, 0, 0, 0, 2, 0, 0, 0, 3}, one = 1, zero = 0;
    float b[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, *pinned = NULL, *managed = NULL, *device = device_copy(b);
    int devices[] = {0}, block = 0;
    cublasXtHandle_t handle;
    CHECK(cudaMallocHost(&pinned, sizeof b));
    CHECK(cudaMallocManaged(&managed, sizeof b));
    DONE(cublasXtCreate(&handle));
    DONE(cublasXtDeviceSelect(handle, 1, devices));
    DONE(cublasXtSetBlockDim(handle, 64));
    DONE(cublasXtGetBlockDim(handle, &block));
    REQUIRE(block == 64);
    DONE(cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, b, N, &zero, pinned, N));
    REQUIRE(pinned[0] == 1 && pinned[1] == 4 && pinned[8] == 27);
    DONE(cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, N, N, N, &one, pinned, N, device, N, &zero, managed, N));
    REQUIRE(managed[0] == 66 && managed[4] == 2 * 93);
    DONE(cublasXtSsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, N, N, &one, b, N, &zero, managed, N));
    REQUIRE(managed[0] == 66 && managed[1] == 78);
    DONE(cublasXtSsymm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, N, N, &one, a, N, b, N, &zero, managed, N));
    REQUIRE(managed[1] == 4 && managed[2] == 9);
    DONE(cublasXtStrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, N, N, &one,
                       a, N, managed, N));
    REQUIRE(managed[1] == 2 && managed[2] == 3);
    DONE(cublasXtDestroy(handle));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(managed));
    CHECK(cudaFree(device));
    return 0;
}
