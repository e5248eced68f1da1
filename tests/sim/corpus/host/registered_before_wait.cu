// Host memory that cudaHostRegister has pinned is copied beside the host: it reads the target, overwrites the source,
// or unregisters and frees the memory before the copy is done.
#include "../corpus.h"

static int table[64];

int main()
{
    const int n = 256;
    const size_t bytes = n * sizeof(int);
    int *data = device_ramp(n, 0, 1), *host = (int *)calloc(n, sizeof(int));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += host[i];
    CHECK(cudaHostRegister(host, bytes, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(host, data, bytes, cudaMemcpyDeviceToHost, stream)); // expect: missing-wait a
    for (int i = 0; i < n; i++)
        sum += host[i]; // expect: missing-wait a
    CHECK(cudaStreamSynchronize(stream));

    CHECK(cudaHostRegister(table, sizeof table, cudaHostRegisterDefault));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 64; i++)
            table[i] = round;                                                              // expect: missing-wait b
        CHECK(cudaMemcpyAsync(data, table, sizeof table, cudaMemcpyHostToDevice, stream)); // expect: missing-wait b
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaHostUnregister(table));

    CHECK(cudaMemcpyAsync(host, data, bytes, cudaMemcpyDeviceToHost, stream)); // expect: missing-wait c
    CHECK(cudaHostUnregister(host));                                           // expect: missing-wait c
    host = (int *)realloc(host, 2 * bytes);
    CHECK(cudaStreamSynchronize(stream));
    free(host);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(data));
    return sum == -1;
}
