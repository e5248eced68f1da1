// A query that says "not ready" is no wait, however often the program asks: the host still overwrites a buffer whose
// copy may be under way.
#include "../corpus.h"

int main()
{
    enum { COUNT = 32, BYTES = COUNT * sizeof(float), ROUNDS = 6 };
    cudaStream_t stream;
    float *pinned[2], *device;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost(&pinned[0], BYTES));
    CHECK(cudaMallocHost(&pinned[1], BYTES));
    CHECK(cudaMalloc(&device, BYTES));
    for (int round = 0; round < ROUNDS; round++) {
        if (cudaStreamQuery(stream) == cudaErrorNotReady)
            cudaGetLastError();
        float *buffer = pinned[round % 2];
        for (int i = 0; i < COUNT; i++)
            buffer[i] = round;                                                         // expect: missing-wait a
        CHECK(cudaMemcpyAsync(device, buffer, BYTES, cudaMemcpyHostToDevice, stream)); // expect: missing-wait a
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(pinned[0]));
    CHECK(cudaFreeHost(pinned[1]));
    CHECK(cudaStreamDestroy(stream));
    return 0;
}
