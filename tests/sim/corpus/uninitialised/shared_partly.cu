// Only the first half of a shared array is filled, all of it is summed.
// cure: __syncthreads()
#include "../corpus.h"

__global__ void sum(const int *input, int *output)
{
    __shared__ int tile[64];
    int t = threadIdx.x, total = 0;
    if (t < 32)
        tile[t] = input[t];
    __syncthreads();
    for (int i = 0; i < 64; i++)
        total += tile[i]; // expect: uninitialised
    output[t] = total;
}

int main()
{
    int *input = device_ramp(64, 0, 1), *output = device_zeros<int>(64);
    sum<<<1, 64>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(input));
    SHOW(cudaFree(output));
    return 0;
}
