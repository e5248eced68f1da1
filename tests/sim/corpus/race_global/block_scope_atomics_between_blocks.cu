// Blocks add to one counter with block-scope atomics: atomic within a block only.
#include "../corpus.h"

__global__ void count(int *counter)
{
    atomicAdd_block(counter, 1); // expect: race
}

int main()
{
    int *counter = device_zeros<int>(1);
    count<<<4, 32>>>(counter);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(counter));
    return 0;
}
