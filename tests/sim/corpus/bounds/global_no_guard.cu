// The grid is rounded up and the kernel has no guard.
#include "../corpus.h"

__global__ void add(const float *a, const float *b, float *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = a[i] + b[i]; // expect: out-of-bounds
    c[i] = sum;              // allow: out-of-bounds
}

int main()
{
    float *a = device_ramp(200, 0.0f, 1.0f), *b = device_ramp(200, 0.0f, 1.0f), *c = device_zeros<float>(200);
    add<<<(200 + 127) / 128, 128>>>(a, b, c);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(a));
    SHOW(cudaFree(b));
    SHOW(cudaFree(c));
    return 0;
}
