// A tile in a loop is overwritten while slower threads still read it: the barrier after the use is missing.
#include "../corpus.h"

__global__ void sum_tiles(const float *input, float *output, int tiles)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < tiles; i++) {
        tile[t] = input[i * 64 + t]; // expect: race a
        __syncthreads();
        for (int k = 0; k < 64; k++)
            sum += tile[k]; // expect: race a
    }
    output[t] = sum;
}

int main()
{
    float *input = device_ramp(256, 1.0f, 0.0f), *output = device_zeros<float>(64);
    sum_tiles<<<1, 64>>>(input, output, 4);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
