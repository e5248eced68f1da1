#include <cstdio>

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data;
    cudaMalloc(&data, 64 * sizeof(int));
    fill<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    printf("%d\n", data[0]); // the CPU cannot read the GPU's memory
    cudaFree(data);
}
