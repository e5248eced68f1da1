// cg::reduce, inclusive_scan and exclusive_scan over tiles.
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void work(int *output)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x, value = t + 1;
    output[t] = cg::reduce(tile, value, cg::plus<int>());
    output[64 + t] = cg::reduce(tile, value, cg::greater<int>());
    output[128 + t] = cg::inclusive_scan(tile, value);
    output[192 + t] = cg::exclusive_scan(tile, value, cg::plus<int>());
}

int main()
{
    int *output = device_zeros<int>(256), r[256];
    work<<<1, 64>>>(output);
    CHECK(cudaGetLastError());
    fetch(r, output);
    for (int t = 0; t < 64; t++) {
        int first = t / 16 * 16 + 1, inclusive = 0;
        for (int k = first; k <= t + 1; k++)
            inclusive += k;
        REQUIRE(r[t] == 16 * first + 120 && r[64 + t] == first + 15);
        REQUIRE(r[128 + t] == inclusive && r[192 + t] == inclusive - (t + 1));
    }
    CHECK(cudaFree(output));
    return 0;
}
