// A thread polls a flag that nobody ever sets.
// memory: device
#include "../corpus.h"

__global__ void wait(volatile int *flag, int *output)
{
    while (*flag == 0) // expect: spin
        ;
    *output = 1;
}

int main()
{
    int *flag = device_zeros<int>(1), *output = device_zeros<int>(1);
    wait<<<1, 1>>>(flag, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(flag));
    SHOW(cudaFree(output));
    return 0;
}
