// Smooths a signal: each value becomes the mean of itself and its right neighbour. It runs, and prints what looks like
// a result. `heddle check examples/check/smooth.cu` says what is wrong with it.

#include <cstdio>

enum { BLOCK = 128, COUNT = 1000 };

__global__ void smooth(const float *signal, float *smoothed, int n)
{
    __shared__ float tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    tile[threadIdx.x] = i < n ? signal[i] : 0.0f;

    if (i < n)
        smoothed[i] = 0.5f * (tile[threadIdx.x] + tile[threadIdx.x + 1]);
}

int main()
{
    float host[COUNT], *signal, *smoothed;
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)(i % 10);
    cudaMalloc(&signal, sizeof host);
    cudaMalloc(&smoothed, sizeof host);
    cudaMemcpy(signal, host, sizeof host, cudaMemcpyHostToDevice);
    smooth<<<(COUNT + BLOCK - 1) / BLOCK, BLOCK>>>(signal, smoothed, COUNT);
    cudaMemcpy(host, smoothed, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g %g %g\n", host[0], host[1], host[2]);
    cudaFree(signal);
    cudaFree(smoothed);
    return 0;
}
