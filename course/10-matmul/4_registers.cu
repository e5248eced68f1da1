// c = a * b, n by n: each thread computes 4 by 4 outputs from registers, so that 8 loads serve 16 multiplications.

enum { TILE = 64, DEPTH = 16, EACH = 4, ACROSS = TILE / EACH, TILE_M = TILE, TILE_N = TILE, THREADS = ACROSS * ACROSS };

__global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[TILE][DEPTH], tile_b[DEPTH][TILE];
    int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
    int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    float sum[EACH][EACH] = {};
    for (int first = 0; first < n; first += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            tile_a[i / DEPTH][i % DEPTH] = a[(first_row + i / DEPTH) * n + first + i % DEPTH];
            tile_b[i / TILE][i % TILE] = b[(first + i / TILE) * n + first_column + i % TILE];
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) {
            float left[EACH], right[EACH];
            for (int i = 0; i < EACH; i++) {
                left[i] = tile_a[y + i * ACROSS][k];
                right[i] = tile_b[k][x + i * ACROSS];
            }
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    sum[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            c[(first_row + y + i * ACROSS) * n + first_column + x + j * ACROSS] = sum[i][j];
}

#include "matmul.h"
