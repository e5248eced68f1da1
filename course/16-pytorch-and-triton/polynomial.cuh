// y = x² + x + 1 and its gradient, for a PyTorch extension and for a test without PyTorch.
#pragma once

// One thread per element.
__global__ void polynomial_forward(const float *x, float *y, long long count)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] = x[i] * x[i] + x[i] + 1;
}

// The slope is 2x + 1: it needs x again, and nothing else of the forward pass.
__global__ void polynomial_backward(const float *x, const float *grad_y, float *grad_x, long long count)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        grad_x[i] = (2 * x[i] + 1) * grad_y[i];
}
