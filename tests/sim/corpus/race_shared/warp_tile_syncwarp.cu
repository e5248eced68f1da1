// A tile for each warp needs __syncwarp only.
#include "../corpus.h"

__global__ void shift(int *data)
{
    __shared__ int tile[4][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    tile[warp][lane] = data[threadIdx.x];
    __syncwarp();
    data[threadIdx.x] = tile[warp][(lane + 1) % 32];
}

int main()
{
    int *data = device_ramp(128, 0, 1), result[128];
    shift<<<1, 128>>>(data);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 128; i++)
        REQUIRE(result[i] == i / 32 * 32 + (i + 1) % 32);
    CHECK(cudaFree(data));
    return 0;
}
