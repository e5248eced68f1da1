// Adds up ones, with atomics.
#include <cuda_runtime.h>

__global__ void add(int *sum)
{
    atomicAdd(sum, 1);
}

int sum_of_ones(int count)
{
    int *device, sum = 0;
    cudaMalloc(&device, sizeof(int));
    cudaMemset(device, 0, sizeof(int));
    add<<<count / 32, 32>>>(device);
    cudaMemcpy(&sum, device, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(device);
    return sum;
}
