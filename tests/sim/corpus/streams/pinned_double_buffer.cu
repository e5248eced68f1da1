// Two pinned buffers in turn, each reused only after its event.
#include "../corpus.h"

__global__ void add(int *total, const int *part)
{
    total[threadIdx.x] += part[threadIdx.x];
}

int main()
{
    cudaStream_t stream;
    cudaEvent_t copied[2];
    int *part = device_zeros<int>(64), *total = device_zeros<int>(64), *host[2], result[64];
    CHECK(cudaStreamCreate(&stream));
    for (int b = 0; b < 2; b++) {
        CHECK(cudaMallocHost(&host[b], 64 * sizeof(int)));
        CHECK(cudaEventCreate(&copied[b]));
    }
    for (int round = 0; round < 6; round++) {
        int b = round % 2;
        CHECK(cudaEventSynchronize(copied[b]));
        for (int i = 0; i < 64; i++)
            host[b][i] = round;
        CHECK(cudaMemcpyAsync(part, host[b], 64 * sizeof(int), cudaMemcpyHostToDevice, stream));
        CHECK(cudaEventRecord(copied[b], stream));
        add<<<1, 64, 0, stream>>>(total, part);
    }
    CHECK(cudaStreamSynchronize(stream));
    fetch(result, total);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == 15);
    for (int b = 0; b < 2; b++) {
        CHECK(cudaFreeHost(host[b]));
        CHECK(cudaEventDestroy(copied[b]));
    }
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(part));
    CHECK(cudaFree(total));
    return 0;
}
