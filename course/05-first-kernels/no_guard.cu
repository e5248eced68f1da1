// Four blocks of 256 threads for 1000 elements, without `if (i < n)`: 24 threads too many.

#include "cuda_check.h"

__global__ void fill(float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 1;
}

int main(void)
{
    float *out;
    CUDA_CHECK(cudaMalloc(&out, 1000 * sizeof(float)));
    fill<<<4, 256>>>(out);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaFree(out));
    return 0;
}
