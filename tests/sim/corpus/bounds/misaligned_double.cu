// A double placed behind an int in a byte buffer.
#include "../corpus.h"

__global__ void store(char *buffer)
{
    *(int *)buffer = 1;
    *(double *)(buffer + 4) = 2.0; // expect: misaligned
}

int main()
{
    char *buffer = device_zeros<char>(16);
    store<<<1, 1>>>(buffer);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(buffer));
    return 0;
}
