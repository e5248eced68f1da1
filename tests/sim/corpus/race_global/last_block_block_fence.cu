// A last-block reduction with __threadfence_block: too narrow between blocks.
#include "../corpus.h"

__device__ unsigned finished;

__global__ void sum(const int *input, int *partial, int *output)
{
    if (threadIdx.x != 0)
        return;
    int mine = 0;
    for (int i = 0; i < 64; i++)
        mine += input[blockIdx.x * 64 + i];
    partial[blockIdx.x] = mine; // expect: race a
    __threadfence_block();
    if (atomicAdd(&finished, 1) == gridDim.x - 1) {
        int total = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            total += partial[b]; // expect: race a
        *output = total;
    }
}

int main()
{
    int *input = device_ramp(512, 0, 1), *partial = device_zeros<int>(8), *output = device_zeros<int>(1);
    sum<<<8, 64>>>(input, partial, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(partial));
    CHECK(cudaFree(output));
    return 0;
}
