// The occupancy API and function attributes.
#include "../corpus.h"

__global__ void fill(float *data)
{
    __shared__ float tile[256];
    tile[threadIdx.x % 256] = 1;
    data[threadIdx.x] = tile[threadIdx.x % 256];
}

int main()
{
    int blocks = 0, grid = 0, block = 0;
    cudaFuncAttributes attributes;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 0));
    REQUIRE(blocks >= 1 && blocks <= 32);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill, 0, 0));
    REQUIRE(grid >= 1 && block >= 32 && block <= 1024 && block % 32 == 0);
    CHECK(cudaFuncGetAttributes(&attributes, fill));
    REQUIRE(attributes.maxThreadsPerBlock >= 256);
    return 0;
}
