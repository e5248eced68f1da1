// An array of each thread: with indices that are known when nvcc compiles, and with indices that are not.

#include <cstdio>

enum { BINS = 32, N = 64 };

__global__ void known(const int *in, int *out)
{
    int bins[BINS];
    for (int j = 0; j < BINS; j++) // unrolled: bins[0] to bins[31] are registers
        bins[j] = in[j] * in[j + BINS];
    int sum = 0;
    for (int j = 0; j < BINS; j++)
        sum += bins[j];
    out[threadIdx.x] = sum;
}

__global__ void unknown(const int *in, int *out)
{
    int bins[BINS] = {0};
    for (int i = 0; i < N; i++)
        bins[in[i] % BINS] += i; // the index is data, and registers cannot be indexed
    out[threadIdx.x] = bins[threadIdx.x % BINS];
}

int main(void)
{
    int *in, *out;
    cudaMalloc(&in, N * sizeof(int));
    cudaMalloc(&out, N * sizeof(int));
    cudaMemset(in, 0, N * sizeof(int));
    known<<<1, N>>>(in, out);
    unknown<<<1, N>>>(in, out);
    cudaFree(in);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
