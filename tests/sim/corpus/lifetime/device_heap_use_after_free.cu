// Device heap memory is read after free.
#include "../corpus.h"

__global__ void stale(int *output)
{
    int *scratch = (int *)malloc(16);
    scratch[0] = 3;
    free(scratch);
    output[threadIdx.x] = scratch[0]; // expect: use-after-free
}

int main()
{
    int *output = device_zeros<int>(1);
    stale<<<1, 1>>>(output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    return 0;
}
