#include <cstdlib>

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data = (int *)malloc(64 * sizeof(int)); // the CPU's memory
    fill<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    free(data);
}
