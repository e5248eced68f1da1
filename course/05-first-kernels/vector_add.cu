// Adds two arrays on the GPU and compares with the CPU: a complete CUDA program.
//
//     heddle check vector_add.cu
//     nvcc vector_add.cu -o vector_add && ./vector_add

#include "cuda_check.h"

__global__ void vector_add(const float *a, const float *b, float *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] = a[i] + b[i];
}

// The same in plain C. It is slow, but easy to trust.
static void vector_add_cpu(const float *a, const float *b, float *sum, int n)
{
    for (int i = 0; i < n; i++)
        sum[i] = a[i] + b[i];
}

// The host side: memory on the device, copies, the launch. a, b and sum are host arrays.
static void vector_add_gpu(const float *a, const float *b, float *sum, int n)
{
    size_t bytes = n * sizeof(float);
    float *device_a, *device_b, *device_sum;
    CUDA_CHECK(cudaMalloc(&device_a, bytes));
    CUDA_CHECK(cudaMalloc(&device_b, bytes));
    CUDA_CHECK(cudaMalloc(&device_sum, bytes));

    CUDA_CHECK(cudaMemcpy(device_a, a, bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_b, b, bytes, cudaMemcpyHostToDevice));

    int threads = 256;
    int blocks = (n + threads - 1) / threads; // n / threads, rounded up
    vector_add<<<blocks, threads>>>(device_a, device_b, device_sum, n);
    CUDA_CHECK_LAUNCH();

    CUDA_CHECK(cudaMemcpy(sum, device_sum, bytes, cudaMemcpyDeviceToHost)); // waits for the kernel

    CUDA_CHECK(cudaFree(device_a));
    CUDA_CHECK(cudaFree(device_b));
    CUDA_CHECK(cudaFree(device_sum));
}

int main(void)
{
    enum { N = 1000 };
    static float a[N], b[N], expected[N], sum[N];
    for (int i = 0; i < N; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }

    vector_add_cpu(a, b, expected, N);
    vector_add_gpu(a, b, sum, N);

    for (int i = 0; i < N; i++)
        if (sum[i] != expected[i]) {
            printf("element %d is %g, expected %g\n", i, sum[i], expected[i]);
            return 1;
        }
    printf("all %d sums are correct\n", N);
    return 0;
}
