// Overlapping groups in turn: lanes 0-15, then 8-23, then 16-31; the last know what the first wrote.
#include "../corpus.h"

__global__ void chain(int *output)
{
    __shared__ int box;
    int lane = threadIdx.x;
    if (lane == 0)
        box = 9;
    if (lane < 16)
        __syncwarp(0x0000ffffu);
    if (lane >= 8 && lane < 24)
        __syncwarp(0x00ffff00u);
    if (lane >= 16)
        __syncwarp(0xffff0000u);
    if (lane == 31)
        *output = box;
}

int main()
{
    int *output = device_zeros<int>(1), result[1];
    chain<<<1, 32>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 9);
    CHECK(cudaFree(output));
    return 0;
}
