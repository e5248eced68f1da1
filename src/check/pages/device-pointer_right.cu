#include <cstdio>

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data, first;
    cudaMalloc(&data, 64 * sizeof(int));
    fill<<<1, 64>>>(data);
    cudaMemcpy(&first, data, sizeof(int), cudaMemcpyDeviceToHost); // also waits for the kernel
    printf("%d\n", first);
    cudaFree(data);
}
