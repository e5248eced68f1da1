// Threads follow pointers to local variables of others: in shared memory, in global memory, and of an earlier kernel.
#include "../corpus.h"

__device__ int *left;

__global__ void in_shared(int *output, int value)
{
    __shared__ int *common;
    int own[2] = {value, value};
    if (threadIdx.x == 0)
        common = &own[value % 2];
    __syncthreads();
    output[threadIdx.x] = *common; // expect: fault
    __syncthreads();
    output[threadIdx.x] += own[0];
}

__global__ void in_global(int **pointers, int *output, int value)
{
    int own[4] = {value, 2, 3, 4};
    pointers[threadIdx.x] = own;
    __syncthreads();
    const int *others = pointers[(threadIdx.x + 1) % blockDim.x];
    output[threadIdx.x] = others[value]; // expect: fault
    __syncthreads();
    output[threadIdx.x] += own[value];
}

__global__ void leave(int *output, int value)
{
    int own[4] = {value, 2, 3, 4};
    left = own;
    output[threadIdx.x] = own[value];
}

__global__ void take(int *output)
{
    output[threadIdx.x] = left[threadIdx.x]; // expect: fault
}

static void end()
{
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaDeviceReset());
}

int main()
{
    in_shared<<<1, 64>>>(device_zeros<int>(64), 1);
    end();
    in_global<<<1, 32>>>(device_zeros<int *>(32), device_zeros<int>(32), 1);
    end();
    int *output = device_zeros<int>(1);
    leave<<<1, 1>>>(output, 1);
    take<<<1, 1>>>(output);
    end();
    return 0;
}
