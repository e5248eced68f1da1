// The same two streams with an event between them.
#include "../corpus.h"

__global__ void make(int *data)
{
    data[threadIdx.x] = threadIdx.x;
}

__global__ void twice(const int *data, int *output)
{
    output[threadIdx.x] = 2 * data[threadIdx.x];
}

int main()
{
    cudaStream_t a, b;
    cudaEvent_t made;
    int *data = device_zeros<int>(64), *output = device_zeros<int>(64), result[64];
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
    CHECK(cudaDeviceSynchronize());
    make<<<1, 64, 0, a>>>(data);
    CHECK(cudaEventRecord(made, a));
    CHECK(cudaStreamWaitEvent(b, made, 0));
    twice<<<1, 64, 0, b>>>(data, output);
    CHECK(cudaStreamSynchronize(b));
    fetch(result, output);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == 2 * i);
    CHECK(cudaEventDestroy(made));
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    CHECK(cudaFree(data));
    CHECK(cudaFree(output));
    return 0;
}
