// Checks the kernels of polynomial.cuh without PyTorch and without a GPU: heddle check polynomial_test.cu

#include "polynomial.cuh"

#include "../05-first-kernels/cuda_check.h"

enum { COUNT = 1000, THREADS = 256, BLOCKS = (COUNT + THREADS - 1) / THREADS };

int main(void)
{
    static float x[COUNT], grad_y[COUNT], y[COUNT], grad_x[COUNT];
    float *device_x, *device_y, *device_grad_y, *device_grad_x;
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(i % 11) - 5;
        grad_y[i] = (float)(i % 3);
    }
    CUDA_CHECK(cudaMalloc(&device_x, sizeof x));
    CUDA_CHECK(cudaMalloc(&device_y, sizeof y));
    CUDA_CHECK(cudaMalloc(&device_grad_y, sizeof grad_y));
    CUDA_CHECK(cudaMalloc(&device_grad_x, sizeof grad_x));
    CUDA_CHECK(cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_grad_y, grad_y, sizeof grad_y, cudaMemcpyHostToDevice));
    polynomial_forward<<<BLOCKS, THREADS>>>(device_x, device_y, COUNT);
    CUDA_CHECK_LAUNCH();
    polynomial_backward<<<BLOCKS, THREADS>>>(device_x, device_grad_y, device_grad_x, COUNT);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(y, device_y, sizeof y, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(grad_x, device_grad_x, sizeof grad_x, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        wrong += y[i] != x[i] * x[i] + x[i] + 1 || grad_x[i] != (2 * x[i] + 1) * grad_y[i];
    printf("%d of %d are wrong\n", wrong, COUNT);
    CUDA_CHECK(cudaFree(device_x));
    CUDA_CHECK(cudaFree(device_y));
    CUDA_CHECK(cudaFree(device_grad_y));
    CUDA_CHECK(cudaFree(device_grad_x));
    return wrong != 0;
}
