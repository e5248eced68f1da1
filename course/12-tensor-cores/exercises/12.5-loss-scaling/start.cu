// Gradients stored as half, and the update of the weights with them: one thread per element.

#include <cuda_fp16.h>

__global__ void store_gradients(const float *gradients, __half *stored, int *overflow, float scale, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        stored[i] = __float2half(gradients[i]); // TODO
}

__global__ void update(float *weights, const __half *stored, const int *overflow, float rate, float scale, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        weights[i] -= rate * __half2float(stored[i]); // TODO
}
