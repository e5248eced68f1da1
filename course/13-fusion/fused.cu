// y = relu(x * scale + shift) as one kernel: intermediate values stay in registers.

#include "../05-first-kernels/cuda_check.h"

enum { COUNT = 1 << 14, THREADS = 256 };

__global__ void scale_shift_relu(const float *x, float scale, float shift, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = fmaxf(x[i] * scale + shift, 0);
}

int main(void)
{
    static float host[COUNT];
    float *x, *y;
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)(i % 7) - 3;
    CUDA_CHECK(cudaMalloc(&x, sizeof host));
    CUDA_CHECK(cudaMalloc(&y, sizeof host));
    CUDA_CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    scale_shift_relu<<<COUNT / THREADS, THREADS>>>(x, 3, 1, y);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        wrong += host[i] != fmaxf(((float)(i % 7) - 3) * 3 + 1, 0);
    printf("%d of %d elements are wrong\n", wrong, COUNT);
    CUDA_CHECK(cudaFree(x));
    CUDA_CHECK(cudaFree(y));
    return wrong != 0;
}
