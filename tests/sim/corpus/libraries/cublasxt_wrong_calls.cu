// cuBLASXt called wrongly: a device that is not there, pinned memory that a stream still writes, and a matrix on the
// device that is too small.
#include "../corpus.h"
#include <cublasXt.h>

const int N = 4;

#define MULTIPLY(a, b) cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, b, N, &zero, here, N)

__global__ void fill(float *a)
{
    a[threadIdx.x] = 1; // expect: missing-wait a
}

int main()
{
    const float one = 1, zero = 0;
    float *pinned = NULL, *small = device_zeros<float>(N * N - 1), here[N * N] = {}, there[N * N] = {};
    int devices[] = {9};
    cublasXtHandle_t handle;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost(&pinned, sizeof here));
    cublasXtCreate(&handle);
    cublasXtDeviceSelect(handle, 1, devices); // expect: bad-call
    fill<<<1, N * N, 0, stream>>>(pinned);
    MULTIPLY(pinned, there); // expect: missing-wait a
    CHECK(cudaDeviceSynchronize());
    MULTIPLY(there, small); // expect: out-of-bounds
    SHOW(cudaDeviceSynchronize());
    return 0;
}
