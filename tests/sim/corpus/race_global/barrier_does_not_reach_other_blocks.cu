// __syncthreads between writing and reading global memory, but the reader is in another block.
#include "../corpus.h"

__global__ void rotate(int *data, int *output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = 2 * i; // expect: race a
    __syncthreads();
    output[i] = data[(i + 1) % n]; // expect: race a
}

int main()
{
    int *data = device_zeros<int>(128), *output = device_zeros<int>(128);
    rotate<<<2, 64>>>(data, output, 128);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    CHECK(cudaFree(output));
    return 0;
}
