// A barrier in a two-dimensional block whose rows are narrower than a warp.
#include "../corpus.h"

__global__ void transpose(int *data)
{
    __shared__ int tile[8][9];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = data[y * 8 + x];
    __syncthreads();
    data[y * 8 + x] = tile[x][y];
}

int main()
{
    int *data = device_ramp(64, 0, 1), result[64];
    transpose<<<1, dim3(8, 8)>>>(data);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == i % 8 * 8 + i / 8);
    CHECK(cudaFree(data));
    return 0;
}
