// A static shared array of 32 indexed by all 64 threads.
// cure: array
#include "../corpus.h"

__global__ void copy(const int *input, int *output)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = input[threadIdx.x]; // expect: out-of-bounds
    __syncthreads();
    if (threadIdx.x < 32)
        output[threadIdx.x] = tile[31 - threadIdx.x];
}

int main()
{
    int *input = device_ramp(64, 0, 1), *output = device_zeros<int>(64);
    copy<<<1, 64>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(input));
    SHOW(cudaFree(output));
    return 0;
}
