// row * pitch overflows int for the last row: the index turns negative.
#include "../corpus.h"

__global__ void touch(float *data, int row, int pitch)
{
    int index = row * pitch + (int)threadIdx.x;
    data[index] = 1; // expect: out-of-bounds
}

int main()
{
    float *data = device_zeros<float>(64);
    touch<<<1, 1>>>(data, 65537, 65535);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
