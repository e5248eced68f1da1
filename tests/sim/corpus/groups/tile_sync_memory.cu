// tile.sync orders shared memory within the tile.
#include "../corpus.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void rotate(int *data)
{
    __shared__ int box[64];
    auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    int t = threadIdx.x, first = t / 4 * 4;
    box[t] = data[t];
    tile.sync();
    data[t] = box[first + (t + 1) % 4];
}

int main()
{
    int *data = device_ramp(64, 0, 1), result[64];
    rotate<<<1, 64>>>(data);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == i / 4 * 4 + (i + 1) % 4);
    CHECK(cudaFree(data));
    return 0;
}
