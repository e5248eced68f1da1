#include <cstdio>

int main()
{
    int *data;
    cudaError_t status = cudaMalloc(&data, (size_t)1 << 50);
    if (status != cudaSuccess) {
        printf("cudaMalloc: %s\n", cudaGetErrorString(status));
        return 0;
    }
    cudaFree(data);
}
