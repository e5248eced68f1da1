// cudaMemset with the count of elements instead of bytes: only the first quarter is set.
#include "../corpus.h"

__global__ void count(int *bins)
{
    bins[threadIdx.x]++; // expect: uninitialised
}

int main()
{
    int *bins = NULL;
    CHECK(cudaMalloc(&bins, 64 * sizeof(int)));
    CHECK(cudaMemset(bins, 0, 64));
    count<<<1, 64>>>(bins);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(bins));
    return 0;
}
