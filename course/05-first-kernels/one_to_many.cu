// The same addition by one thread, by one block and by a grid.

#include "cuda_check.h"

__global__ void by_one_thread(const float *a, const float *b, float *sum, int n)
{
    for (int i = 0; i < n; i++)
        sum[i] = a[i] + b[i];
}

__global__ void by_one_block(const float *a, const float *b, float *sum, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum[i] = a[i] + b[i];
}

// A grid-stride loop: correct for any number of blocks and threads.
__global__ void by_a_grid(const float *a, const float *b, float *sum, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum[i] = a[i] + b[i];
}

int main(void)
{
    int n = 1 << 12;
    size_t bytes = n * sizeof(float);
    float *a, *b, *sum;
    CUDA_CHECK(cudaMalloc(&a, bytes));
    CUDA_CHECK(cudaMalloc(&b, bytes));
    CUDA_CHECK(cudaMalloc(&sum, bytes));
    CUDA_CHECK(cudaMemset(a, 0, bytes));
    CUDA_CHECK(cudaMemset(b, 0, bytes));
    by_one_thread<<<1, 1>>>(a, b, sum, n);
    CUDA_CHECK_LAUNCH();
    by_one_block<<<1, 1024>>>(a, b, sum, n);
    CUDA_CHECK_LAUNCH();
    by_a_grid<<<8, 256>>>(a, b, sum, n);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
    CUDA_CHECK(cudaFree(sum));
    return 0;
}
