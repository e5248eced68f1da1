// grid.sync in a kernel that was launched with plain brackets.
#include "../corpus.h"
#include <cooperative_groups.h>

__global__ void meet(int *data)
{
    data[blockIdx.x] = 1;
    cooperative_groups::this_grid().sync(); // expect: bad-launch
}

int main()
{
    int *data = device_zeros<int>(4);
    meet<<<4, 1>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
