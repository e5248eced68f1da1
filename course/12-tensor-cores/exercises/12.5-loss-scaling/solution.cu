// Gradients stored as half, and the update of the weights with them: one thread per element.
//
// The scale is a power of two: multiplying by it changes only the exponent, so dividing by it in float restores the
// gradient up to the rounding of half. The division must be in float: in half, the small number would be 0 again.
// Several threads may find an overflow, so the flag is set by an atomic.

#include <cuda_fp16.h>

__global__ void store_gradients(const float *gradients, __half *stored, int *overflow, float scale, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        __half value = __float2half(gradients[i] * scale);
        stored[i] = value;
        if (!isfinite(__half2float(value)))
            atomicExch(overflow, 1);
    }
}

__global__ void update(float *weights, const __half *stored, const int *overflow, float rate, float scale, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n && *overflow == 0)
        weights[i] -= rate * (__half2float(stored[i]) / scale);
}
