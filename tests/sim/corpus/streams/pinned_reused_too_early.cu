// A pinned buffer is filled anew while its copy to the card may still be under way.
#include "../corpus.h"

int main()
{
    cudaStream_t stream;
    int *data = device_zeros<int>(64), *host = NULL;
    CHECK(cudaMallocHost(&host, 64 * sizeof(int)));
    CHECK(cudaStreamCreate(&stream));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 64; i++)
            host[i] = round;                                                                  // expect: missing-wait a+
        CHECK(cudaMemcpyAsync(data, host, 64 * sizeof(int), cudaMemcpyHostToDevice, stream)); // expect: missing-wait a+
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(data));
    return 0;
}
