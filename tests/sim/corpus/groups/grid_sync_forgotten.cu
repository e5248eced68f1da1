// A block barrier where the grid must meet.
#include "../corpus.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void rounds(int *data, int *next)
{
    cg::grid_group grid = cg::this_grid();
    int i = (int)grid.thread_rank(), n = (int)grid.size();
    next[i] = data[i] + 1; // expect: race a
    cg::this_thread_block().sync();
    data[i] = next[(i + 64) % n]; // expect: race a
    grid.sync();
}

int main()
{
    int *data = device_ramp(256, 1, 0), *next = device_zeros<int>(256);
    void *arguments[] = {&data, &next};
    SHOW(cudaLaunchCooperativeKernel((void *)rounds, dim3(4), dim3(64), arguments, 0, 0));
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    CHECK(cudaFree(next));
    return 0;
}
