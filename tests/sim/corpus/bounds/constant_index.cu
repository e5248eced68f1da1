// A __constant__ table of 16 read at 16.
#include "../corpus.h"

__constant__ int table[16];

__global__ void look_up(const int *index, int *output)
{
    output[threadIdx.x] = table[index[threadIdx.x]]; // expect: out-of-bounds
}

int main()
{
    int host[16] = {0}, *index = device_ramp(17, 0, 1), *output = device_zeros<int>(17);
    CHECK(cudaMemcpyToSymbol(table, host, sizeof host));
    look_up<<<1, 17>>>(index, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(index));
    SHOW(cudaFree(output));
    return 0;
}
