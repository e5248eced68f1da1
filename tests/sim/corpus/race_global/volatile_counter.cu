// A counter that is volatile but not atomic: updates get lost, whatever volatile promises.
#include "../corpus.h"

__global__ void count(volatile int *counter)
{
    *counter = *counter + 1; // expect: race
}

int main()
{
    int *counter = device_zeros<int>(1);
    count<<<4, 32>>>(counter);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(counter));
    return 0;
}
