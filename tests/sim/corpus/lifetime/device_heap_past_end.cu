// A block of the device heap is overrun.
#include "../corpus.h"

__global__ void overrun(int *output, int n)
{
    int *scratch = (int *)malloc(n * sizeof(int));
    for (int i = 0; i <= n; i++)
        scratch[i] = i; // expect: out-of-bounds
    output[threadIdx.x] = scratch[0];
    free(scratch);
}

int main()
{
    int *output = device_zeros<int>(4);
    overrun<<<1, 4>>>(output, 5);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    return 0;
}
