// Lanes meet in halves, but read across the halves.
#include "../corpus.h"

__global__ void mirror(int *output)
{
    __shared__ int box[32];
    int lane = threadIdx.x;
    box[lane] = lane; // expect: race a
    __syncwarp(lane < 16 ? 0x0000ffffu : 0xffff0000u);
    output[lane] = box[31 - lane]; // expect: race a
}

int main()
{
    int *output = device_zeros<int>(32);
    mirror<<<1, 32>>>(output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(output));
    return 0;
}
