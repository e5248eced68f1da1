// Double buffering that writes the half others still read: the index of the next buffer is off by one.
#include "../corpus.h"

__global__ void sum_tiles(const int *input, int *output, int tiles)
{
    __shared__ int tile[2][64];
    int t = threadIdx.x, sum = 0;
    tile[0][t] = tile[1][t] = input[t];
    __syncthreads();
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles)
            tile[i & 1][63 - t] = input[(i + 1) * 64 + t]; // expect: race a
        sum += tile[i & 1][t];                             // expect: race a
        __syncthreads();
    }
    output[t] = sum;
}

int main()
{
    int *input = device_ramp(256, 1, 0), *output = device_zeros<int>(64);
    sum_tiles<<<1, 64>>>(input, output, 4);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
