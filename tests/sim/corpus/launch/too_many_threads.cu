// 2048 threads in a block.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data = device_zeros<int>(2048);
    fill<<<1, 2048>>>(data); // expect: bad-launch
    SHOW(cudaGetLastError());
    CHECK(cudaFree(data));
    return 0;
}
