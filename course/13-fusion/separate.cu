// y = relu(x * scale + shift) as three kernels: each reads what the one before has written.

#include "../05-first-kernels/cuda_check.h"

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
    static float host[COUNT];
    float *x, *y, *z;
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)(i % 7) - 3;
    CUDA_CHECK(cudaMalloc(&x, sizeof host));
    CUDA_CHECK(cudaMalloc(&y, sizeof host));
    CUDA_CHECK(cudaMalloc(&z, sizeof host));
    CUDA_CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    multiply<<<COUNT / THREADS, THREADS>>>(x, 3, y);
    CUDA_CHECK_LAUNCH();
    add<<<COUNT / THREADS, THREADS>>>(y, 1, z);
    CUDA_CHECK_LAUNCH();
    relu<<<COUNT / THREADS, THREADS>>>(z, y);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        wrong += host[i] != fmaxf(((float)(i % 7) - 3) * 3 + 1, 0);
    printf("%d of %d elements are wrong\n", wrong, COUNT);
    CUDA_CHECK(cudaFree(x));
    CUDA_CHECK(cudaFree(y));
    CUDA_CHECK(cudaFree(z));
    return wrong != 0;
}
