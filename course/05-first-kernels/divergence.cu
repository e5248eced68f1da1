// Two branches that half of the threads take: every other lane of a warp, or every other warp.

#include "cuda_check.h"

__global__ void by_lane(const float *a, const float *b, float *out)
{
    int i = threadIdx.x;
    float result;
    if (i % 2 == 0)
        result = sqrtf(a[i]);
    else
        result = b[i] * b[i];
    out[i] = result;
}

__global__ void by_warp(const float *a, const float *b, float *out)
{
    int i = threadIdx.x;
    float result;
    if (i / 32 % 2 == 0)
        result = sqrtf(a[i]);
    else
        result = b[i] * b[i];
    out[i] = result;
}

int main(void)
{
    enum { N = 256 };
    float *a, *b, *out;
    CUDA_CHECK(cudaMalloc(&a, N * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&b, N * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&out, N * sizeof(float)));
    CUDA_CHECK(cudaMemset(a, 0, N * sizeof(float)));
    CUDA_CHECK(cudaMemset(b, 0, N * sizeof(float)));
    by_lane<<<1, N>>>(a, b, out);
    CUDA_CHECK_LAUNCH();
    by_warp<<<1, N>>>(a, b, out);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
    CUDA_CHECK(cudaFree(out));
    return 0;
}
