// 64 KB of dynamic shared memory without asking for it first.
#include "../corpus.h"

__global__ void fill(int *data)
{
    extern __shared__ int big[];
    big[threadIdx.x] = 1;
    data[threadIdx.x] = big[threadIdx.x];
}

int main()
{
    int *data = device_zeros<int>(32);
    fill<<<1, 32, 64 * 1024>>>(data); // expect: bad-launch
    SHOW(cudaGetLastError());
    CHECK(cudaFree(data));
    return 0;
}
