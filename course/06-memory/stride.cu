// Three kernels that each read 4096 floats: neighbours, every second one, and every 32nd.

#include <cstdio>

enum { N = 4096, WIDEST = 32 };

__global__ void neighbours(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

__global__ void every_second(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[2 * i];
}

__global__ void every_32nd(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[32 * i];
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, WIDEST * N * sizeof(float));
    cudaMalloc(&out, N * sizeof(float));
    cudaMemset(in, 0, WIDEST * N * sizeof(float));
    neighbours<<<N / 256, 256>>>(in, out);
    every_second<<<N / 256, 256>>>(in, out);
    every_32nd<<<N / 256, 256>>>(in, out);
    cudaFree(in);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
