// Reads a flat array in shared memory with strides 2 and 3. How many wavefronts does each load need?

#include <cstdio>

enum { THREADS = 32, WORDS = 3 * THREADS };

__global__ void strides(float *out)
{
    __shared__ float tile[WORDS];

    for (int k = threadIdx.x; k < WORDS; k += THREADS)
        tile[k] = k;
    __syncthreads();
    float second = tile[threadIdx.x * 2];
    float third = tile[threadIdx.x * 3];
    out[threadIdx.x] = second + third;
}

int main(void)
{
    float *out;
    cudaMalloc(&out, THREADS * sizeof(float));
    strides<<<1, THREADS>>>(out);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
