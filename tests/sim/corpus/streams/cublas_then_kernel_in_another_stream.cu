// A kernel reads in one stream what cuBLAS writes in another, and nothing ties the two.
#include "../corpus.h"
#include <cublas_v2.h>

#define BLAS(call) REQUIRE((call) == CUBLAS_STATUS_SUCCESS)

const int N = 32;

__global__ void twice(const float *from, float *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = 2 * from[i]; // expect: missing-wait a
}

int main()
{
    const float one = 1, zero = 0;
    const cublasOperation_t plain = CUBLAS_OP_N;
    float *a = device_ramp<float>(N * N, 0, 1), *b = device_ramp<float>(N * N, 1, 0), *c = device_zeros<float>(N * N);
    float *d = device_zeros<float>(N * N);
    cudaStream_t first, second;
    cublasHandle_t handle;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    BLAS(cublasCreate(&handle));
    BLAS(cublasSetStream(handle, first));
    BLAS(cublasSgemm(handle, plain, plain, N, N, N, &one, a, N, b, N, &zero, c, N)); // expect: missing-wait a
    twice<<<N, N, 0, second>>>(c, d);
    CHECK(cudaDeviceSynchronize());
    BLAS(cublasDestroy(handle));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    CHECK(cudaFree(d));
    return 0;
}
