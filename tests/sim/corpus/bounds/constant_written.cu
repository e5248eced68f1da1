// A kernel stores into a __constant__ variable through a pointer.
#include "../corpus.h"

__constant__ int table[32] = {1};
__device__ int counters[32];

__global__ void renew(int *output)
{
    int *entries = (int *)table;
    counters[threadIdx.x] = table[threadIdx.x];
    entries[threadIdx.x] = 3; // expect: out-of-bounds
    output[threadIdx.x] = table[threadIdx.x];
}
// cure: cudaMemcpyToSymbol
// memory: table

int main()
{
    int *output = device_zeros<int>(32);
    renew<<<1, 32>>>(output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    return 0;
}
