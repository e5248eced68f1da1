// cudaMemcpyAsync in each direction and cudaMemsetAsync, in order within one stream.
#include "../corpus.h"

int main()
{
    cudaStream_t stream;
    int *host = NULL, *a = NULL, *b = NULL;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocHost(&host, 256));
    CHECK(cudaMalloc(&a, 256));
    CHECK(cudaMalloc(&b, 256));
    for (int i = 0; i < 64; i++)
        host[i] = i;
    CHECK(cudaMemcpyAsync(a, host, 256, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemsetAsync(b, 0xff, 256, stream));
    CHECK(cudaMemcpyAsync(b, a, 128, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaMemcpyAsync(host, b, 256, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 64; i++)
        REQUIRE(host[i] == (i < 32 ? i : -1));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return 0;
}
