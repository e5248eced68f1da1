// The first thread of a block speaks for it at the barrier of the whole grid: where it has returned, the grid waits for
// ever.
#include <cooperative_groups.h>

#include "../corpus.h"

__global__ void skip_first(int *data)
{
    if (threadIdx.x == 0)
        return;
    data[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    cooperative_groups::this_grid().sync(); // expect: deadlock
}

int main()
{
    int *data = device_zeros<int>(128);
    void *arguments[] = {&data};
    CHECK(cudaLaunchCooperativeKernel((void *)skip_first, 2, 64, arguments));
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
