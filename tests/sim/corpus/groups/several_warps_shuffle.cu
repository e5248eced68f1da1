// Tiles of two and of four warps hand one thread's value to all of them, and vote.
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

enum { THREADS = 256 };

struct pair {
    int first;
    double second;
};

__global__ void share(int *output)
{
    __shared__ cg::block_tile_memory<THREADS> scratch;
    cg::thread_block block = cg::this_thread_block(scratch);
    auto two = cg::tiled_partition<64>(block);
    auto four = cg::tiled_partition<128>(block);
    int rank = (int)block.thread_rank();
    pair own = {rank, 0.5 * rank};
    pair last = two.shfl(own, 63);
    int leader = cg::invoke_one_broadcast(four, [&] { return 1000 + rank; });
    output[rank] = last.first + (int)(2 * last.second);
    output[THREADS + rank] = leader;
    output[2 * THREADS + rank] = two.any(rank == 70) + 2 * four.all(rank < 128) + 4 * two.all(rank != 255);
    output[3 * THREADS + rank] = cg::reduce(two, rank, cg::greater<int>());
}

int main()
{
    int *output = device_zeros<int>(4 * THREADS), host[4 * THREADS];
    share<<<1, THREADS>>>(output);
    fetch(host, output);
    for (int rank = 0; rank < THREADS; rank++) {
        REQUIRE(host[rank] == 2 * (rank / 64 * 64 + 63));
        REQUIRE(host[THREADS + rank] == 1000 + rank / 128 * 128);
        REQUIRE(host[2 * THREADS + rank] == (rank / 64 == 1) + 2 * (rank < 128) + 4 * (rank / 64 != 3));
        REQUIRE(host[3 * THREADS + rank] == rank / 64 * 64 + 63);
    }
    CHECK(cudaFree(output));
    return 0;
}
