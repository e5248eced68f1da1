// Shared memory does not keep a value from one block to the next.
#include "../corpus.h"

__global__ void keep(int *output)
{
    __shared__ int kept;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        kept = 5;
    __syncthreads();
    if (threadIdx.x == 0)
        output[blockIdx.x] = kept; // expect: uninitialised
}

int main()
{
    int *output = device_zeros<int>(4);
    keep<<<4, 32>>>(output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    return 0;
}
