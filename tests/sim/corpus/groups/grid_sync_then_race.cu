// After a grid barrier the detector goes on: what comes behind it is judged anew.
#include "../corpus.h"
#include <cooperative_groups.h>

__global__ void two_steps(int *first, int *second)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    first[grid.thread_rank()] = threadIdx.x;
    grid.sync();
    second[threadIdx.x] = first[(grid.thread_rank() + 64) % 128] + blockIdx.x; // expect: race
}

int main()
{
    int *first = device_zeros<int>(128), *second = device_zeros<int>(64);
    void *arguments[] = {&first, &second};
    SHOW(cudaLaunchCooperativeKernel((void *)two_steps, dim3(2), dim3(64), arguments, 0, 0));
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(first));
    CHECK(cudaFree(second));
    return 0;
}
