// += on a fresh output array that was never set to zero.
#include "../corpus.h"

__global__ void accumulate(float *output, const float *input)
{
    output[threadIdx.x] += input[threadIdx.x]; // expect: uninitialised
}

int main()
{
    float *output = NULL, *input = device_ramp(32, 0.0f, 1.0f);
    CHECK(cudaMalloc(&output, 32 * sizeof(float)));
    accumulate<<<1, 32>>>(output, input);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    SHOW(cudaFree(input));
    return 0;
}
