// A neighbour stencil reads element -1.
#include "../corpus.h"

__global__ void difference(const float *input, float *output)
{
    int i = threadIdx.x;
    output[i] = input[i] - input[i - 1]; // expect: out-of-bounds
}

int main()
{
    float *input = device_ramp(64, 0.0f, 1.0f), *output = device_zeros<float>(64);
    difference<<<1, 64>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(input));
    SHOW(cudaFree(output));
    return 0;
}
