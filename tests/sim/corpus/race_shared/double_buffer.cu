// Double buffering with one barrier a step: the next tile is written into the other half.
#include "../corpus.h"

__global__ void sum_tiles(const int *input, int *output, int tiles)
{
    __shared__ int tile[2][64];
    int t = threadIdx.x, sum = 0;
    tile[0][t] = input[t];
    __syncthreads();
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles)
            tile[(i + 1) & 1][t] = input[(i + 1) * 64 + t];
        sum += tile[i & 1][63 - t];
        __syncthreads();
    }
    output[t] = sum;
}

int main()
{
    int *input = device_ramp(256, 1, 1), *output = device_zeros<int>(64), result[64];
    sum_tiles<<<1, 64>>>(input, output, 4);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int t = 0; t < 64; t++)
        REQUIRE(result[t] == 4 * (64 - t) + 64 * (0 + 1 + 2 + 3));
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
