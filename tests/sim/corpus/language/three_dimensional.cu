// Three-dimensional grids and blocks.
#include "../corpus.h"

__global__ void number(int *output)
{
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    output[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = block * 1000 + thread;
}

int main()
{
    int *output = device_zeros<int>(24 * 30), result[24 * 30];
    number<<<dim3(2, 3, 4), dim3(5, 3, 2)>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 24 * 30; i++)
        REQUIRE(result[i] == i / 30 * 1000 + i % 30);
    CHECK(cudaFree(output));
    return 0;
}
