// A tile in a loop with a barrier before and after its use.
#include "../corpus.h"

__global__ void sum_tiles(const float *input, float *output, int tiles)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < tiles; i++) {
        tile[t] = input[i * 64 + t];
        __syncthreads();
        for (int k = 0; k < 64; k++)
            sum += tile[k];
        __syncthreads();
    }
    output[t] = sum;
}

int main()
{
    float *input = device_ramp(256, 1.0f, 0.0f), *output = device_zeros<float>(64), result[64];
    sum_tiles<<<1, 64>>>(input, output, 4);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == 256);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
