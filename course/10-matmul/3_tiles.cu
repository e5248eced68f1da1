// c = a * b, n by n, through tiles in shared memory: every element that a block fetches is used 32 times.

#ifndef TILE
#define TILE 32 // the page's picture has smaller ones
#endif
enum { TILE_M = TILE, TILE_N = TILE, THREADS = TILE * TILE };

__global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int first = 0; first < n; first += TILE) {
        tile_a[y][x] = a[row * n + first + x];
        tile_b[y][x] = b[(first + y) * n + column];
        __syncthreads(); // the tiles are complete
        for (int k = 0; k < TILE; k++)
            sum += tile_a[y][k] * tile_b[k][x];
        __syncthreads(); // all have read them
    }
    c[row * n + column] = sum;
}

#include "matmul.h"
