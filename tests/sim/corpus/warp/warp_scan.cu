// Inclusive scan of each warp with __shfl_up_sync.
#include "../corpus.h"

__global__ void scan(int *data)
{
    int t = threadIdx.x, lane = t % 32, value = data[t];
    for (int offset = 1; offset < 32; offset *= 2) {
        int other = __shfl_up_sync(0xffffffffu, value, offset);
        if (lane >= offset)
            value += other;
    }
    data[t] = value;
}

int main()
{
    int *data = device_ramp(64, 1, 0), result[64];
    scan<<<1, 64>>>(data);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == i % 32 + 1);
    CHECK(cudaFree(data));
    return 0;
}
