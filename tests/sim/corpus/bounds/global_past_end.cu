// The guard is <= instead of <: one element past the end is written.
#include "../corpus.h"

__global__ void fill(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        data[i] = i; // expect: out-of-bounds
}

int main()
{
    int *data = NULL;
    CHECK(cudaMalloc(&data, 100 * sizeof(int)));
    fill<<<2, 64>>>(data, 100);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
