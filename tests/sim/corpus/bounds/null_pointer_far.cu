// A kernel given NULL, in the order that begins with the last block: the address is far from zero.
// schedule: 1
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] = 1; // expect: fault
}

int main()
{
    fill<<<1000, 256>>>(NULL);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
