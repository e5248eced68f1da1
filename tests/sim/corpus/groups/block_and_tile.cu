// Cooperative groups: thread_block, tiled partitions, their shuffles, votes and sizes.
#include "../corpus.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void sums(const int *input, int *output)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    __shared__ int part[16];
    int value = input[block.thread_rank()];
    for (int offset = tile.size() / 2; offset > 0; offset /= 2)
        value += tile.shfl_down(value, offset);
    if (tile.thread_rank() == 0)
        part[tile.meta_group_rank()] = value;
    block.sync();
    if (block.thread_rank() == 0) {
        int total = 0;
        for (unsigned i = 0; i < tile.meta_group_size(); i++)
            total += part[i];
        output[0] = total;
        output[1] = (int)block.size();
    }
    bool agreed = tile.any(tile.thread_rank() == 5) && tile.all(tile.thread_rank() < 8);
    int odd = (int)tile.ballot(tile.thread_rank() % 2);
    if (agreed && block.thread_rank() == 9)
        output[2] = odd;
}

int main()
{
    int *input = device_ramp(128, 0, 1), *output = device_zeros<int>(3), result[3];
    sums<<<1, 128>>>(input, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 127 * 128 / 2 && result[1] == 128 && result[2] == 0xaa);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
