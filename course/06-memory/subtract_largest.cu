// Each block finds the largest number of its tile and subtracts it from every element. The tile is loaded from global
// memory once, then read many times from shared memory.

#include <cstdio>

enum { TILE = 128 };

__global__ void subtract_largest(const float *in, float *out)
{
    __shared__ float tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;

    tile[threadIdx.x] = in[i];
    __syncthreads(); // every element is there before anyone reads

    float largest = tile[0];
    for (int j = 1; j < TILE; j++)
        largest = fmaxf(largest, tile[j]);
    out[i] = tile[threadIdx.x] - largest;
}

int main(void)
{
    enum { N = 8 * TILE };
    static float in[N], out[N];
    float *device_in, *device_out;
    for (int i = 0; i < N; i++)
        in[i] = i * 37 % 100;
    cudaMalloc(&device_in, sizeof in);
    cudaMalloc(&device_out, sizeof out);
    cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
    subtract_largest<<<N / TILE, TILE>>>(device_in, device_out);
    cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(device_in);
    cudaFree(device_out);
    for (int i = 0; i < N; i++)
        if (out[i] != in[i] - 99) { // every tile has a 99
            printf("element %d is %g, expected %g\n", i, out[i], in[i] - 99);
            return 1;
        }
    printf("all %d elements are correct\n", N);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
