// Grid-wide sync in a cooperative launch: every block reads what the others wrote.
#include "../corpus.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void rounds(int *data, int *next, int steps)
{
    cg::grid_group grid = cg::this_grid();
    int i = (int)grid.thread_rank(), n = (int)grid.size();
    for (int step = 0; step < steps; step++) {
        next[i] = data[(i + 1) % n] + data[(i + n - 1) % n];
        grid.sync();
        data[i] = next[i];
        grid.sync();
    }
}

int main()
{
    int *data = device_ramp(256, 1, 0), *next = device_zeros<int>(256), steps = 3, result[256];
    void *arguments[] = {&data, &next, &steps};
    CHECK(cudaLaunchCooperativeKernel((void *)rounds, dim3(4), dim3(64), arguments, 0, 0));
    fetch(result, data);
    for (int i = 0; i < 256; i++)
        REQUIRE(result[i] == 8);
    CHECK(cudaFree(data));
    CHECK(cudaFree(next));
    return 0;
}
