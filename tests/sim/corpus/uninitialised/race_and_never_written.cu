// A barrier is missing after a tile was filled, and one element of it is filled by nobody: the race explains what is
// read of the others too early, not that one.
#include "../corpus.h"

__global__ void shift(const int *input, int *output)
{
    __shared__ int tile[257];
    int t = threadIdx.x;
    tile[t] = input[t];      // expect: race a
    output[t] = tile[t + 1]; // expect: race a; uninitialised
}

int main()
{
    int *input = device_ramp(256, 0, 1), *output = device_zeros<int>(256);
    shift<<<1, 256>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(input));
    SHOW(cudaFree(output));
    return 0;
}
