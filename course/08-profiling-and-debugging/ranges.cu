// Names two phases of a program with NVTX, so that nsys shows them above the kernels.
//
//     heddle check ranges.cu
//     nvcc -arch=native ranges.cu -o ranges && nsys profile -o ranges ./ranges

#include <cstdio>
#include <nvtx3/nvToolsExt.h>

__global__ void fill(float *data, float value)
{
    data[threadIdx.x] = value;
}

__global__ void add(float *data, float value)
{
    data[threadIdx.x] += value;
}

int main(void)
{
    float *data;
    cudaMalloc(&data, 256 * sizeof(float));

    nvtxRangePushA("prepare");
    fill<<<1, 256>>>(data, 0);
    cudaDeviceSynchronize();
    nvtxRangePop();

    nvtxRangePushA("hundred steps");
    for (int step = 0; step < 100; step++)
        add<<<1, 256>>>(data, 1);
    cudaDeviceSynchronize();
    nvtxRangePop();

    cudaFree(data);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
