#include <cstdio>

__global__ void sum(int *out)
{
    atomicAdd(out, threadIdx.x);
}

int main()
{
    int *out;
    cudaMallocManaged(&out, sizeof(int));
    *out = 0;
    sum<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    printf("sum %d\n", *out);
    cudaFree(out);
}
