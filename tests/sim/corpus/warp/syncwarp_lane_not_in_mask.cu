// A lane calls __syncwarp with a mask that does not name it.
#include "../corpus.h"

__global__ void meet(int *data)
{
    data[threadIdx.x] = threadIdx.x;
    __syncwarp(0x7fffffffu); // expect: warp-mask
}

int main()
{
    int *data = device_zeros<int>(32);
    meet<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
