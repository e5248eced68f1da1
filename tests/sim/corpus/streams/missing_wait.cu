// Stream B reads what stream A writes, with nothing between them.
#include "../corpus.h"

__global__ void make(int *data)
{
    data[threadIdx.x] = threadIdx.x; // expect: missing-wait a+
}

__global__ void twice(const int *data, int *output)
{
    output[threadIdx.x] = 2 * data[threadIdx.x]; // expect: missing-wait a+
}

int main()
{
    cudaStream_t a, b;
    int *data = device_zeros<int>(64), *output = device_zeros<int>(64);
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    make<<<1, 64, 0, a>>>(data);          // expect: missing-wait a+
    twice<<<1, 64, 0, b>>>(data, output); // expect: missing-wait a+
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    CHECK(cudaFree(data));
    CHECK(cudaFree(output));
    return 0;
}
