// A barrier in a branch that only half of the threads take.

#include <cstdio>

__global__ void fill(int *even, int *all)
{
    int i = threadIdx.x;
    if (i % 2 == 0) {
        even[i / 2] = i;
        __syncthreads();
    }
    all[i] = i;
}

int main(void)
{
    int *even, *all;
    cudaMalloc(&even, 32 * sizeof(int));
    cudaMalloc(&all, 64 * sizeof(int));
    fill<<<1, 64>>>(even, all);
    cudaDeviceSynchronize();
    cudaFree(even);
    cudaFree(all);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
