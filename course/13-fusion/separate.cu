// y = relu(x * scale + shift), as three kernels: each reads what the one before has written.

#include <stdio.h>

enum { COUNT = 1 << 14, THREADS = 256 };

__global__ void multiply(const float *x, float scale, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * scale;
}

__global__ void add(const float *x, float shift, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + shift;
}

__global__ void relu(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = fmaxf(x[i], 0);
}

int main(void)
{
    float *x, *y, *z, result;
    cudaMalloc(&x, COUNT * sizeof *x);
    cudaMalloc(&y, COUNT * sizeof *y);
    cudaMalloc(&z, COUNT * sizeof *z);
    cudaMemset(x, 0, COUNT * sizeof *x);
    multiply<<<COUNT / THREADS, THREADS>>>(x, 3, y);
    add<<<COUNT / THREADS, THREADS>>>(y, 1, z);
    relu<<<COUNT / THREADS, THREADS>>>(z, y);
    cudaMemcpy(&result, y + COUNT - 1, sizeof result, cudaMemcpyDeviceToHost);
    printf("the last element is %g\n", result);
    cudaFree(x);
    cudaFree(y);
    cudaFree(z);
    return result != 1;
}
