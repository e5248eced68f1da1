// Memory is freed in another stream than the one whose kernel, and then whose copy, uses it.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1; // expect: use-after-free a
}

int main()
{
    int *data = NULL, *other = NULL, host[32];
    cudaStream_t first, second;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    CHECK(cudaMallocAsync(&data, sizeof host, first));
    fill<<<1, 32, 0, first>>>(data);
    CHECK(cudaFreeAsync(data, second)); // expect: use-after-free a
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMallocAsync(&other, sizeof host, first));
    CHECK(cudaMemsetAsync(other, 0, sizeof host, first)); // expect: use-after-free b
    CHECK(cudaFreeAsync(other, second));                  // expect: use-after-free b
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    return 0;
}
