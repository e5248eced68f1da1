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
    sum<<<2, 64>>>(out); // both blocks add 0 to 63
    cudaDeviceSynchronize();
    printf("sum %d\n", *out);
    cudaFree(out);
}
