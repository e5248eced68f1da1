// Host memory registered with cudaHostRegister and copied asynchronously.
#include "../corpus.h"

int main()
{
    const int n = 256;
    int *host = (int *)malloc(n * sizeof(int)), *data = device_ramp(n, 0, 1);
    cudaStream_t stream;
    CHECK(cudaHostRegister(host, n * sizeof(int), cudaHostRegisterDefault));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemcpyAsync(host, data, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++)
        REQUIRE(host[i] == i);
    CHECK(cudaHostUnregister(host));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(data));
    free(host);
    return 0;
}
