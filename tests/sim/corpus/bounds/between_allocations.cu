// An index meant for one array reaches into the gap behind it, towards the next allocation.
#include "../corpus.h"

__global__ void touch(int *first, int n)
{
    first[n + threadIdx.x] = 1; // expect: out-of-bounds
}

int main()
{
    int *first = device_zeros<int>(64), *second = device_zeros<int>(64);
    touch<<<1, 4>>>(first, 64);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(first));
    SHOW(cudaFree(second));
    return 0;
}
