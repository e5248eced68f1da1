// Three groups meet each for itself; one lane reads from a group it never met.
#include "../corpus.h"

__global__ void cross(int *output)
{
    __shared__ int box[32];
    int lane = threadIdx.x;
    unsigned mask = lane < 10 ? 0x000003ffu : lane < 21 ? 0x001ffc00u : 0xffe00000u;
    if (lane == 3)
        box[0] = 7; // expect: race a
    __syncwarp(mask);
    if (lane == 9)
        output[9] = box[0];
    if (lane == 25)
        output[25] = box[0]; // expect: race a
}

int main()
{
    int *output = device_zeros<int>(32);
    cross<<<1, 32>>>(output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(output));
    return 0;
}
