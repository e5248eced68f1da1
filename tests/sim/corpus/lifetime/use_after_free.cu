// A kernel uses memory that was freed before the launch.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1; // expect: use-after-free
}

int main()
{
    int *data = device_zeros<int>(64);
    CHECK(cudaFree(data));
    fill<<<1, 64>>>(data);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
