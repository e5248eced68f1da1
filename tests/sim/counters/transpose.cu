// Transpose of 64x64 floats: naive, through a tile whose columns share a bank, through a padded tile.
#include "../corpus/corpus.h"

enum { N = 64, TILE = 32 };

__global__ void naive(const float *input, float *output)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float value = input[y * N + x]; // count: load global requests=128 lanes=4096 units=512 ideal=512
    output[x * N + y] = value;      // count: store global requests=128 lanes=4096 units=4096 ideal=512
}

__global__ void tiled(const float *input, float *output)
{
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float value = input[y * N + x];         // count: load global requests=128 units=512
    tile[threadIdx.y][threadIdx.x] = value; // count: store shared requests=128 units=128 ideal=128
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    value = tile[threadIdx.x][threadIdx.y]; // count: load shared requests=128 units=4096 ideal=128
    output[y * N + x] = value;              // count: store global requests=128 units=512
}

__global__ void padded(const float *input, float *output)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float value = input[y * N + x];
    tile[threadIdx.y][threadIdx.x] = value; // count: store shared requests=128 units=128
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    value = tile[threadIdx.x][threadIdx.y]; // count: load shared requests=128 units=128
    output[y * N + x] = value;              // count: store global requests=128 units=512
}

int main()
{
    float *input = device_ramp(N * N, 0.0f, 1.0f), *output = device_zeros<float>(N * N);
    dim3 grid(N / TILE, N / TILE), block(TILE, TILE);
    naive<<<grid, block>>>(input, output);
    tiled<<<grid, block>>>(input, output);
    padded<<<grid, block>>>(input, output);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
