// In all blocks but the first the second warp fills a tile, and the first reads it with no barrier between. The race
// explains what those blocks read too early, not what the first block reads: there, nothing writes the tile.
#include "../corpus.h"

__global__ void hand_on(const int *input, int *output)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    if (t >= 32 && blockIdx.x > 0)
        tile[t - 32] = input[t]; // expect: race a
    if (t < 32)
        output[32 * blockIdx.x + t] = tile[t]; // expect: race a; uninitialised
}

int main()
{
    int *input = device_ramp(64, 0, 1), *output = device_zeros<int>(32 * 32);
    hand_on<<<32, 64>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(input));
    SHOW(cudaFree(output));
    return 0;
}
