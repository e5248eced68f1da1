// A factor of a call of cuBLAS lies on the host, and the handle's pointer mode says that it lies on the card.
#include <cublas_v2.h>

#include "../corpus.h"

int main()
{
    const int n = 64;
    float *x = device_ramp<float>(n, 1, 0), number = 2;
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
    cublasStatus_t status = cublasSscal(handle, n, &number, x, 1); // expect: host-pointer
    // note: pointer mode
    SHOW(cudaDeviceSynchronize());
    printf("%d %g\n", (int)status, number);
    cublasDestroy(handle);
    SHOW(cudaFree(x));
    return 0;
}
