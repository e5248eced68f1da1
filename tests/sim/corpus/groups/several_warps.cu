// Tiles of two and of four warps side by side: reduce and both scans, with barriers of their own.
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

enum { THREADS = 256 };

__global__ void combine(int *output)
{
    __shared__ cg::block_tile_memory<THREADS> scratch;
    cg::thread_block block = cg::this_thread_block(scratch);
    auto four = cg::tiled_partition<128>(block);
    auto two = cg::tiled_partition<64>(block);
    int rank = (int)block.thread_rank();
    output[rank] = cg::reduce(four, rank, cg::plus<int>());
    output[THREADS + rank] = cg::inclusive_scan(two, rank, cg::plus<int>());
    output[2 * THREADS + rank] = cg::exclusive_scan(four, 1);
}

int main()
{
    int *output = device_zeros<int>(3 * THREADS), host[3 * THREADS];
    combine<<<1, THREADS>>>(output);
    fetch(host, output);
    for (int rank = 0; rank < THREADS; rank++) {
        int first = rank / 128 * 128, scan = 0;
        for (int i = rank / 64 * 64; i <= rank; i++)
            scan += i;
        REQUIRE(host[rank] == 128 * first + 127 * 128 / 2);
        REQUIRE(host[THREADS + rank] == scan);
        REQUIRE(host[2 * THREADS + rank] == rank % 128);
    }
    CHECK(cudaFree(output));
    return 0;
}
