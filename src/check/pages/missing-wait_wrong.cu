#include <cstdio>

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data;
    cudaMallocManaged(&data, 64 * sizeof(int));
    fill<<<1, 64>>>(data);   // only starts the kernel
    printf("%d\n", data[0]); // reads before it has finished
    cudaFree(data);
}
