// An array of 13 bytes: the access one byte past it lies well inside any alignment of the allocator.
#include "../corpus.h"

__global__ void fill(unsigned char *data, int n)
{
    if (threadIdx.x < n)
        data[threadIdx.x] = 1; // expect: out-of-bounds
}

int main()
{
    unsigned char *data = NULL;
    CHECK(cudaMalloc(&data, 13));
    fill<<<1, 32>>>(data, 14);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
