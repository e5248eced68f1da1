// A block of 40 threads: the second warp has 8 lanes, which meet with the mask of those eight.
#include "../corpus.h"

__global__ void last(int *output)
{
    int t = threadIdx.x;
    unsigned mask = t < 32 ? 0xffffffffu : 0x000000ffu;
    output[t] = __shfl_sync(mask, t, 7);
}

int main()
{
    int *output = device_zeros<int>(40), result[40];
    last<<<1, 40>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 40; i++)
        REQUIRE(result[i] == (i < 32 ? 7 : 39));
    CHECK(cudaFree(output));
    return 0;
}
