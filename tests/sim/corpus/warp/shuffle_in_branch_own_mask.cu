// Each half of a branch shuffles with its own mask.
#include "../corpus.h"

__global__ void half_sum(int *data)
{
    int t = threadIdx.x, value = data[t];
    if (t < 16)
        value += __shfl_xor_sync(0x0000ffffu, value, 1);
    else
        value -= __shfl_xor_sync(0xffff0000u, value, 1);
    data[t] = value;
}

int main()
{
    int *data = device_ramp(32, 0, 1), result[32];
    half_sum<<<1, 32>>>(data);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == (i < 16 ? i + (i ^ 1) : i - (i ^ 1)));
    CHECK(cudaFree(data));
    return 0;
}
