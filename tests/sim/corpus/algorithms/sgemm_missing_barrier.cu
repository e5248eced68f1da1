// A tiled matrix product without the second barrier.
#include "../corpus.h"

enum { TILE = 8 };

__global__ void sgemm(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int first = 0; first < n; first += TILE) {
        left[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];       // expect: race a
        right[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + column]; // expect: race b
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x]; // expect: race a; race b
    }
    c[row * n + column] = sum;
}

int main()
{
    float *a = device_ramp(256, 0.0f, 1.0f), *b = device_ramp(256, 0.0f, 1.0f), *c = device_zeros<float>(256);
    sgemm<<<dim3(2, 2), dim3(TILE, TILE)>>>(a, b, c, 16);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    return 0;
}
