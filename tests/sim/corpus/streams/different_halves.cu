// Two streams work on different halves of one allocation: nothing to wait for.
#include "../corpus.h"

__global__ void add(int *data, int value)
{
    data[threadIdx.x] += value;
}

int main()
{
    cudaStream_t stream[2];
    int *data = device_zeros<int>(64), *host = NULL;
    CHECK(cudaMallocHost(&host, 64 * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 2; i++) {
        CHECK(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
        add<<<1, 32, 0, stream[i]>>>(data + 32 * i, i + 1);
        CHECK(cudaMemcpyAsync(host + 32 * i, data + 32 * i, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream[i]));
    }
    for (int i = 0; i < 2; i++) {
        CHECK(cudaStreamSynchronize(stream[i]));
        CHECK(cudaStreamDestroy(stream[i]));
    }
    for (int i = 0; i < 64; i++)
        REQUIRE(host[i] == i / 32 + 1);
    CHECK(cudaFree(data));
    CHECK(cudaFreeHost(host));
    return 0;
}
