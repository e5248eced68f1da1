// The compiler's own name for memcpy, with a constant size that is no power of two: watched like any other copy.
#include "../corpus.h"

__global__ void gather(const int *input, int *output)
{
    int three[3];
    __builtin_memcpy(three, input + 2, sizeof three); // expect: out-of-bounds
    output[threadIdx.x] = three[0] + three[2];
}

int main()
{
    int *input = device_ramp(4, 0, 1), *output = device_zeros<int>(32);
    gather<<<1, 32>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(input));
    SHOW(cudaFree(output));
    return 0;
}
