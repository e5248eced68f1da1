// A loop that runs past the end of a kernel's static array.
#include "../corpus.h"

__global__ void sum(int *out, int n)
{
    static int seen[4];
    for (int i = 0; i < n; i++)
        seen[i] += out[i]; // expect: out-of-bounds
}

int main()
{
    int *out = device_zeros<int>(32);
    sum<<<1, 1>>>(out, 4);
    SHOW(cudaDeviceSynchronize());
    sum<<<1, 1>>>(out, 5);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
