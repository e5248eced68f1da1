// binary_partition and labeled_partition of a tile.
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void work(int *output)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int t = threadIdx.x;
    auto halves = cg::binary_partition(tile, t % 4 == 0);
    output[t] = (int)halves.size();
    auto labelled = cg::labeled_partition(tile, t % 3);
    output[32 + t] = cg::reduce(labelled, t, cg::plus<int>());
}

int main()
{
    int *output = device_zeros<int>(64), r[64], sums[3] = {0, 0, 0};
    work<<<1, 32>>>(output);
    CHECK(cudaGetLastError());
    fetch(r, output);
    for (int t = 0; t < 32; t++)
        sums[t % 3] += t;
    for (int t = 0; t < 32; t++)
        REQUIRE(r[t] == (t % 4 == 0 ? 8 : 24) && r[32 + t] == sums[t % 3]);
    CHECK(cudaFree(output));
    return 0;
}
