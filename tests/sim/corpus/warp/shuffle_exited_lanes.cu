// Lanes beyond the end return early; the last of the rest adds what one of them would have had.
#include "../corpus.h"

__global__ void pairs(const int *input, int *output, int n)
{
    int t = threadIdx.x;
    if (t >= n)
        return;
    output[t] = input[t] + __shfl_down_sync(0xffffffffu, input[t], 1); // expect: warp-mask
}

int main()
{
    int *input = device_ramp(32, 0, 1), *output = device_zeros<int>(32);
    pairs<<<1, 32>>>(input, output, 20);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(input));
    SHOW(cudaFree(output));
    return 0;
}
