// Blocks leave pointers to their shared memory where other blocks and later kernels take them up.
#include "../corpus.h"
#include <cooperative_groups.h>

__device__ float *left;

struct part {
    int count;
    float *values;
};

__global__ void leave(float *output)
{
    __shared__ float tile[32];
    tile[threadIdx.x] = (float)threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        left = tile;
    output[threadIdx.x] = tile[31 - threadIdx.x];
}

__global__ void take(float *output)
{
    __shared__ float own[32];
    own[threadIdx.x] = 1;
    __syncthreads();
    output[threadIdx.x] = own[threadIdx.x] + left[threadIdx.x]; // expect: fault
}

__global__ void dynamic(part *parts)
{
    extern __shared__ float values[];
    values[threadIdx.x] = (float)blockIdx.x;
    if (threadIdx.x == 0)
        parts[blockIdx.x] = {32, values};
}

__global__ void write_there(part *parts)
{
    parts[0].values[threadIdx.x] = 1; // expect: fault
}

__global__ void neighbours(float **all, float *output)
{
    __shared__ float tile[32];
    tile[threadIdx.x] = (float)threadIdx.x;
    if (threadIdx.x == 0)
        all[blockIdx.x] = tile;
    cooperative_groups::this_grid().sync();
    const float *other = all[(blockIdx.x + 1) % gridDim.x];
    output[blockIdx.x * 32 + threadIdx.x] = other[threadIdx.x]; // expect: fault
    cooperative_groups::this_grid().sync();
}

static void end()
{
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaDeviceReset());
}

int main()
{
    float *output = device_zeros<float>(32);
    leave<<<1, 32>>>(output);
    take<<<1, 32>>>(output);
    end();
    part *parts = device_zeros<part>(2);
    dynamic<<<2, 32, 32 * sizeof(float)>>>(parts);
    write_there<<<1, 32>>>(parts);
    end();
    float **all = device_zeros<float *>(2);
    output = device_zeros<float>(64);
    void *arguments[] = {&all, &output};
    CHECK(cudaLaunchCooperativeKernel((void *)neighbours, 2, 32, arguments, 0, 0));
    end();
    return 0;
}
