// A non-blocking stream is not ordered with the default stream.
#include "../corpus.h"

__global__ void add(int *data, int value)
{
    data[threadIdx.x] += value; // expect: missing-wait a+
}

int main()
{
    cudaStream_t a;
    int *data = device_zeros<int>(64);
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    add<<<1, 64, 0, a>>>(data, 1); // expect: missing-wait a+
    add<<<1, 64>>>(data, 10);      // expect: missing-wait a+
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaFree(data));
    return 0;
}
