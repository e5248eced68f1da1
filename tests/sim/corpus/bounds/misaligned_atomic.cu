// An atomic on a misaligned counter.
#include "../corpus.h"

__global__ void count(char *buffer)
{
    atomicAdd((unsigned *)(buffer + 2), 1u); // expect: misaligned
}

int main()
{
    char *buffer = device_zeros<char>(16);
    count<<<1, 1>>>(buffer);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(buffer));
    return 0;
}
