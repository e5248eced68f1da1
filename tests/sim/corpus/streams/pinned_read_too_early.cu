// The host reads a pinned buffer before the asynchronous copy into it was waited for.
#include "../corpus.h"

int main()
{
    cudaStream_t stream;
    int *data = device_ramp(64, 0, 1), *host = NULL;
    CHECK(cudaMallocHost(&host, 64 * sizeof(int)));
    for (int i = 0; i < 64; i++)
        host[i] = 0;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemcpyAsync(host, data, 64 * sizeof(int), cudaMemcpyDeviceToHost, stream)); // expect: missing-wait a+
    printf("%d\n", host[5]);                                                              // expect: missing-wait a+
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(data));
    return 0;
}
