// nvcc-refuses: needs -rdc. A child that writes out of bounds fails its parent's launch.
#include "../corpus.h"

__global__ void child(int *data, int first)
{
    data[first + threadIdx.x] = 1; // expect: out-of-bounds
}

__global__ void parent(int *data)
{
    if (threadIdx.x == 0)
        child<<<1, 32>>>(data, 1);
}

int main()
{
    int *data;
    CHECK(cudaMalloc(&data, 32 * sizeof(int)));
    parent<<<1, 32>>>(data);
    if (cudaDeviceSynchronize() != cudaErrorIllegalAddress)
        return 1;
    return 0;
}
