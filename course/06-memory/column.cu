// Transposes a 32 x 32 tile through shared memory. All lanes of a warp read from one bank.

#include <cstdio>

enum { TILE = 32 };

__global__ void transpose_tile(const float *in, float *out)
{
    __shared__ float tile[TILE][TILE];

    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * TILE + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * TILE + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, TILE * TILE * sizeof(float));
    cudaMalloc(&out, TILE * TILE * sizeof(float));
    cudaMemset(in, 0, TILE * TILE * sizeof(float));
    transpose_tile<<<1, dim3(TILE, TILE)>>>(in, out);
    cudaFree(in);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
