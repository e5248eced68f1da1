// A volatile `+=` is a read and a write: an atomic of another thread that falls between the two is lost.
#include "../corpus.h"

// note: an atomic between the two is lost
__global__ void count(unsigned *counter)
{
    if (threadIdx.x == 1)
        atomicAdd(counter, 1u); // expect: race a
    if (threadIdx.x == 40)
        *(volatile unsigned *)counter += 2; // expect: race a
}

int main()
{
    unsigned *counter = device_zeros<unsigned>(1), result[1];
    count<<<1, 64>>>(counter);
    SHOW(cudaGetLastError());
    fetch(result, counter);
    CHECK(cudaFree(counter));
    return 0;
}
