// A local array of 8 filled by a loop that runs to 8 included.
#include "../corpus.h"

__global__ void reverse(const int *input, int *output, int n)
{
    int mine[8];
    for (int i = 0; i <= n; i++)
        mine[i] = input[i]; // expect: out-of-bounds
    for (int i = 0; i < n; i++)
        output[threadIdx.x * 8 + i] = mine[n - 1 - i];
}

int main()
{
    int *input = device_ramp(16, 0, 1), *output = device_zeros<int>(32);
    reverse<<<1, 4>>>(input, output, 8);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(input));
    SHOW(cudaFree(output));
    return 0;
}
