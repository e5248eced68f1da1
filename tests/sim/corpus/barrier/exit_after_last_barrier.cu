// Whole blocks return before any barrier, and threads return after the last one: both are fine.
#include "../corpus.h"

__global__ void work(int *output, int blocks)
{
    if (blockIdx.x >= blocks)
        return;
    __shared__ int first;
    if (threadIdx.x == 0)
        first = blockIdx.x * 100;
    __syncthreads();
    if (threadIdx.x > 10)
        return;
    output[blockIdx.x * 11 + threadIdx.x] = first + threadIdx.x;
}

int main()
{
    int *output = device_zeros<int>(22), result[22];
    work<<<4, 64>>>(output, 2);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 22; i++)
        REQUIRE(result[i] == i / 11 * 100 + i % 11);
    CHECK(cudaFree(output));
    return 0;
}
