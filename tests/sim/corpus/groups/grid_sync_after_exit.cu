// Threads that have no element return before the barrier of the whole grid, which all threads have to reach.
#include <cooperative_groups.h>

#include "../corpus.h"

__global__ void rotate(int *data, int *output, int n)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int i = grid.thread_rank();
    if (i >= n)
        return;
    data[i] = i;
    grid.sync(); // expect: barrier-exited(warning)
    output[i] = data[(i + 1) % n];
}

int main()
{
    int n = 200, *data = device_zeros<int>(n), *output = device_zeros<int>(n);
    void *arguments[] = {&data, &output, &n};
    CHECK(cudaLaunchCooperativeKernel((void *)rotate, 2, 128, arguments));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    CHECK(cudaFree(output));
    return 0;
}
