// An index off by a whole matrix: it would land in the neighbour, if the neighbour lay right behind.
#include "../corpus.h"

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i + n + 64] + b[i]; // expect: out-of-bounds
}

int main()
{
    float *a = device_ramp(1024, 0.0f, 1.0f), *b = device_ramp(1024, 0.0f, 1.0f), *c = device_zeros<float>(1024);
    add<<<4, 256>>>(a, b, c, 1024);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(a));
    SHOW(cudaFree(b));
    SHOW(cudaFree(c));
    return 0;
}
