// An event is recorded a second time, in another stream: whoever waits for it waits for that stream alone.
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
    cudaStream_t a, b, c;
    cudaEvent_t made;
    int *data = device_zeros<int>(64), *output = device_zeros<int>(64);
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&made));
    CHECK(cudaDeviceSynchronize());
    make<<<1, 64, 0, a>>>(data); // expect: missing-wait a+
    CHECK(cudaEventRecord(made, a));
    CHECK(cudaEventRecord(made, b));
    CHECK(cudaStreamWaitEvent(c, made, 0));
    twice<<<1, 64, 0, c>>>(data, output); // expect: missing-wait a+
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(made));
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    CHECK(cudaStreamDestroy(c));
    CHECK(cudaFree(data));
    CHECK(cudaFree(output));
    return 0;
}
