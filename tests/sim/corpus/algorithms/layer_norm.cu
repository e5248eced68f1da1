// Layer norm: mean and variance of a row by a block reduction in shared memory.
#include "../corpus.h"
#include <math.h>

__device__ float block_sum(float value, float *scratch)
{
    int t = threadIdx.x;
    scratch[t] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half)
            scratch[t] += scratch[t + half];
        __syncthreads();
    }
    float sum = scratch[0];
    __syncthreads();
    return sum;
}

__global__ void layer_norm(const float *input, float *output, int columns)
{
    __shared__ float scratch[64];
    const float *row = input + blockIdx.x * columns;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += row[i];
    float mean = block_sum(sum, scratch) / columns;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        squares += (row[i] - mean) * (row[i] - mean);
    float scale = rsqrtf(block_sum(squares, scratch) / columns + 1e-5f);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        output[blockIdx.x * columns + i] = (row[i] - mean) * scale;
}

int main()
{
    float *input = device_ramp(3 * 100, 0.0f, 1.0f), *output = device_zeros<float>(300), result[300];
    layer_norm<<<3, 64>>>(input, output, 100);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int row = 0; row < 3; row++)
        REQUIRE(fabsf(result[row * 100] + result[row * 100 + 99]) < 1e-4f &&
                fabsf(result[row * 100 + 99] - 1.7148f) < 1e-3f);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
