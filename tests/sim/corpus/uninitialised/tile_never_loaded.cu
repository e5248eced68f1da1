// A tile of shared memory whose loading was forgotten altogether: no line of the program writes it.
#include "../corpus.h"

__global__ void multiply(const float *a, float *c, int n)
{
    __shared__ float tile[16][16];
    float sum = 0;
    __syncthreads();
    for (int i = 0; i < 16; i++)
        sum += tile[threadIdx.y][i] * a[i * n + threadIdx.x]; // expect: uninitialised
    c[threadIdx.y * n + threadIdx.x] = sum;
}

int main()
{
    float *a = device_zeros<float>(256), *c = device_zeros<float>(256);
    multiply<<<1, dim3(16, 16)>>>(a, c, 16);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
    CHECK(cudaFree(c));
    return 0;
}
