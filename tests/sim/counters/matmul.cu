// Matrix product of 32x32 floats: naive, and with tiles of 16 in shared memory. A warp is two rows of a tile.
#include "../corpus/corpus.h"

enum { N = 32, TILE = 16 };

__global__ void naive(const float *a, const float *b, float *c)
{
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; k++) {
        float left = a[row * N + k];     // count: load global requests=1024 units=2048
        float right = b[k * N + column]; // count: load global requests=1024 units=2048
        sum += left * right;
    }
    c[row * N + column] = sum; // count: store global requests=32 units=128
}

__global__ void tiled(const float *a, const float *b, float *c)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int first = 0; first < N; first += TILE) {
        float from_a = a[row * N + first + threadIdx.x];      // count: load global requests=64 units=256
        float from_b = b[(first + threadIdx.y) * N + column]; // count: load global requests=64 units=256
        left[threadIdx.y][threadIdx.x] = from_a;              // count: store shared requests=64 units=64
        right[threadIdx.y][threadIdx.x] = from_b;             // count: store shared requests=64 units=64
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            float l = left[threadIdx.y][k];  // count: load shared requests=1024 units=1024
            float r = right[k][threadIdx.x]; // count: load shared requests=1024 units=1024
            sum += l * r;
        }
        __syncthreads();
    }
    c[row * N + column] = sum; // count: store global requests=32 units=128
}

int main()
{
    float *a = device_ramp(N * N, 0.0f, 1.0f), *b = device_ramp(N * N, 0.0f, 1.0f), *c = device_zeros<float>(N * N);
    naive<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(a, b, c);
    tiled<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(a, b, c);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    return 0;
}
