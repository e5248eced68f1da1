// Tiles of 40 written with a stride of 32: blocks overlap by eight elements.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[blockIdx.x * 32 + threadIdx.x] = blockIdx.x; // expect: race
}

int main()
{
    int *data = device_zeros<int>(136);
    fill<<<4, 40>>>(data);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
