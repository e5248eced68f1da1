// A pointer made from a number.
#include "../corpus.h"

__global__ void fill(int *data)
{
    *data = 1; // expect: fault
}

int main()
{
    fill<<<1, 1>>>((int *)0x123456789000);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
