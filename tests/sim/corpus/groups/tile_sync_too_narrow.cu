// tile.sync of four threads, but the neighbour read may be in the next tile.
#include "../corpus.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void rotate(int *data)
{
    __shared__ int box[64];
    auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    int t = threadIdx.x;
    box[t] = data[t]; // expect: race a
    tile.sync();
    data[t] = box[(t + 1) % 64]; // expect: race a
}

int main()
{
    int *data = device_ramp(64, 0, 1);
    rotate<<<1, 64>>>(data);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
