// Blocks read elements that other blocks write in the same launch, and nobody has written them before.
#include "../corpus.h"

__global__ void reverse(int *data, int *output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    output[i] = data[n - 1 - i]; // expect: race a; uninitialised
    data[i] = i;                 // expect: race a
}

int main()
{
    const int n = 4 * 64;
    int *output = device_zeros<int>(n), *data = NULL;
    CHECK(cudaMalloc(&data, n * sizeof(int)));
    reverse<<<4, 64>>>(data, output, n);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    SHOW(cudaFree(output));
    return 0;
}
