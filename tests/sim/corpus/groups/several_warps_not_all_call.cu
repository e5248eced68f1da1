// One warp of a tile of two leaves before the tile votes: the other waits for it.
// memory:
#include "../corpus.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum { THREADS = 128 };

__global__ void vote(int *output)
{
    auto two = cg::tiled_partition<64>(cg::this_thread_block());
    if (threadIdx.x < 32)
        output[threadIdx.x] = 0;
    else
        output[threadIdx.x] = two.any(threadIdx.x == 70); // expect: deadlock|barrier-exited
}

int main()
{
    int *output = device_zeros<int>(THREADS);
    vote<<<1, THREADS>>>(output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    return 0;
}
