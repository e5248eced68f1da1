// An index computed as a difference of unsigned numbers wraps around instead of going negative.
#include "../corpus.h"

__global__ void shift(const int *input, int *output)
{
    unsigned i = threadIdx.x;
    output[i] = input[i - 4u]; // expect: out-of-bounds
}

int main()
{
    int *input = device_ramp(64, 0, 1), *output = device_zeros<int>(64);
    shift<<<1, 64>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(input));
    SHOW(cudaFree(output));
    return 0;
}
