// c = a * b, n by n: one thread per output. Neighbouring threads take neighbouring columns.

enum { TILE_M = 8, TILE_N = 32, THREADS = TILE_M * TILE_N };

__global__ void matmul(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.y * TILE_M + threadIdx.x / TILE_N;
    int column = blockIdx.x * TILE_N + threadIdx.x % TILE_N;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

#include "matmul.h"
