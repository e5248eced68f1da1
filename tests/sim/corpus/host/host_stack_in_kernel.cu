// A kernel is given the address of a local variable of main.
#include "../corpus.h"

__global__ void count(int *counter)
{
    atomicAdd(counter, 1); // expect: host-pointer
}

int main()
{
    int counter = 0;
    count<<<1, 64>>>(&counter);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
