// Threads read each other's elements of a shared array before they fill it. A barrier between the two would end the
// race, and what is read would still be nobody's.
#include "../corpus.h"

__global__ void reverse(const int *input, int *output)
{
    __shared__ int tile[256];
    int t = threadIdx.x;
    int other = tile[255 - t]; // expect: race a; uninitialised
    tile[t] = input[t];        // expect: race a
    __syncthreads();
    output[t] = other + tile[t];
}

int main()
{
    int *input = device_ramp(256, 0, 1), *output = device_zeros<int>(256);
    reverse<<<1, 256>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(input));
    SHOW(cudaFree(output));
    return 0;
}
