// A vector that is NULL.
#include "../corpus.h"

#include <cublas_v2.h>

int main()
{
    cublasHandle_t handle;
    const float factor = 2;
    REQUIRE(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasSscal(handle, 1, &factor, NULL, 1) == CUBLAS_STATUS_SUCCESS); // expect: fault
    SHOW(cudaDeviceSynchronize());
    return 0;
}
