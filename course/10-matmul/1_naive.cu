// c = a * b, n by n: one thread per output. Neighbouring threads take neighbouring rows.

enum { TILE_M = 32, TILE_N = 8, THREADS = TILE_M * TILE_N };

__global__ void matmul(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.y * TILE_M + threadIdx.x % TILE_M;
    int column = blockIdx.x * TILE_N + threadIdx.x / TILE_M;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

#include "matmul.h"
