// Reverses an array within each block, by way of shared memory. On a GPU it mostly prints the right numbers.
// `heddle check examples/check/reverse.cu` says why it need not.

#include <cstdio>

enum { BLOCK = 256, COUNT = 4096 };

__global__ void reverse(const float *input, float *output)
{
    __shared__ float tile[BLOCK];
    int first = blockIdx.x * BLOCK;
    tile[threadIdx.x] = input[first + threadIdx.x];
    output[first + threadIdx.x] = tile[BLOCK - 1 - threadIdx.x];
}

int main()
{
    static float host[COUNT];
    float *input, *output;
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)i;
    cudaMalloc(&input, sizeof host);
    cudaMalloc(&output, sizeof host);
    cudaMemcpy(input, host, sizeof host, cudaMemcpyHostToDevice);
    reverse<<<COUNT / BLOCK, BLOCK>>>(input, output);
    cudaMemcpy(host, output, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g %g ... %g\n", host[0], host[1], host[COUNT - 1]);
    cudaFree(input);
    cudaFree(output);
    return 0;
}
