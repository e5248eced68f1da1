// Two copies of different streams that have nothing in common but the pinned memory: one reads it, the other writes it.
// memory: pinned
#include "../corpus.h"

int main()
{
    const int n = 1024;
    float *pinned = NULL, *first = device_zeros<float>(n), *second = device_zeros<float>(n);
    cudaStream_t one, other;
    CHECK(cudaMallocHost(&pinned, n * sizeof *pinned));
    for (int i = 0; i < n; i++)
        pinned[i] = (float)i;
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&other));
    CHECK(cudaMemcpyAsync(first, pinned, n * sizeof(float), cudaMemcpyHostToDevice, one));    // expect: missing-wait a
    CHECK(cudaMemcpyAsync(pinned, second, n * sizeof(float), cudaMemcpyDeviceToHost, other)); // expect: missing-wait a
    CHECK(cudaStreamSynchronize(other));
    printf("%g\n", pinned[10]);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(one));
    CHECK(cudaStreamDestroy(other));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(first));
    CHECK(cudaFree(second));
    return 0;
}
