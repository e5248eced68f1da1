// A kernel in another stream changes the third column of a matrix without gaps that cublasSgemm reads.
#include <cublas_v2.h>

#include "../corpus.h"

__global__ void set(float *matrix)
{
    matrix[20] = 7; // expect: missing-wait a
}

int main()
{
    const float one = 1, zero = 0;
    float *left = device_zeros<float>(64), *product = device_zeros<float>(64);
    cudaStream_t first, second;
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSetStream(handle, first);
    CHECK(cudaDeviceSynchronize());
    cublasOperation_t as_it_is = CUBLAS_OP_N;
    cublasSgemm( // expect: missing-wait a
        handle, as_it_is, as_it_is, 8, 8, 8, &one, left, 8, left, 8, &zero, product, 8);
    set<<<1, 1, 0, second>>>(left);
    CHECK(cudaDeviceSynchronize());
    cublasDestroy(handle);
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaFree(left));
    CHECK(cudaFree(product));
    return 0;
}
