// A cooperative launch with more blocks than the card can hold at once.
#include "../corpus.h"
#include <cooperative_groups.h>

__global__ void meet(int *data)
{
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0)
        data[0] = 1;
}

int main()
{
    int *data = device_zeros<int>(1);
    void *arguments[] = {&data};
    SHOW(cudaLaunchCooperativeKernel((void *)meet, dim3(100000), dim3(1024), arguments, 0, 0)); // expect: bad-launch
    CHECK(cudaFree(data));
    return 0;
}
