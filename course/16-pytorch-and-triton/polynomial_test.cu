// Proves the kernels of polynomial.cuh without PyTorch and without a GPU: heddle check polynomial_test.cu

#include "polynomial.cuh"

#include <stdio.h>

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
    cudaMalloc(&device_x, sizeof x);
    cudaMalloc(&device_y, sizeof y);
    cudaMalloc(&device_grad_y, sizeof grad_y);
    cudaMalloc(&device_grad_x, sizeof grad_x);
    cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemcpy(device_grad_y, grad_y, sizeof grad_y, cudaMemcpyHostToDevice);
    polynomial_forward<<<BLOCKS, THREADS>>>(device_x, device_y, COUNT);
    polynomial_backward<<<BLOCKS, THREADS>>>(device_x, device_grad_y, device_grad_x, COUNT);
    cudaMemcpy(y, device_y, sizeof y, cudaMemcpyDeviceToHost);
    cudaMemcpy(grad_x, device_grad_x, sizeof grad_x, cudaMemcpyDeviceToHost);
    for (int i = 0; i < COUNT; i++)
        wrong += y[i] != x[i] * x[i] + x[i] + 1 || grad_x[i] != (2 * x[i] + 1) * grad_y[i];
    printf("%d of %d are wrong\n", wrong, COUNT);
    cudaFree(device_x);
    cudaFree(device_y);
    cudaFree(device_grad_y);
    cudaFree(device_grad_x);
    return wrong != 0;
}
