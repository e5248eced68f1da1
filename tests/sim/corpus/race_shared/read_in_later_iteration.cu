// One warp reads in a later iteration of a loop what another wrote before the loop: no barrier lies between.
#include "../corpus.h"

__global__ void relay(int *output)
{
    __shared__ int box;
    if (threadIdx.x == 0)
        box = 1; // expect: race a
    for (int i = 0; i < 3; i++)
        if (threadIdx.x / 32 == 1 && i == 2)
            output[threadIdx.x] = box; // expect: race a
    __syncthreads();
}

int main()
{
    int *output = device_zeros<int>(64);
    relay<<<1, 64>>>(output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(output));
    return 0;
}
