// matmul, rung 5: each thread computes 8 by 8 elements.
//
// Rung 4 used each load of b for 8 sums, but each load of a for only one. Here a thread loads 8 values of each and
// multiplies all pairs: 64 multiplications for 16 loads, where rung 4 needed 72.
//
// Limited by: instructions. Every float has its own load, from global as from shared memory: 16 loads and their latency
// for 64 multiplications.

#include "ops/matmul/tile.h"

enum {
    BLOCK_M = 128,
    BLOCK_N = 128,
    DEPTH = 8,
    THREAD_M = 8, // 64 sums per thread fit in registers and leave room for two blocks per SM
    THREAD_N = 8,
    THREADS_N = BLOCK_N / THREAD_N, // threads per row of the tile
    THREADS = BLOCK_M / THREAD_M * THREADS_N,
};

// a: (m, k), b: (n, k), output: (m, n)
__global__ void __launch_bounds__(THREADS)
    matmul_register_tiles_2d(heddle_matmul_shape shape, matmul_operand a, matmul_operand b, float *output)
{
    __shared__ float tile_a[BLOCK_M][DEPTH], tile_b[DEPTH][BLOCK_N];
    matmul_corner corner = matmul_tile_of(shape, BLOCK_M, BLOCK_N);
    int row = threadIdx.x / THREADS_N * THREAD_M, column = threadIdx.x % THREADS_N * THREAD_N;
    float sum[THREAD_M][THREAD_N] = {{0}};
    for (int k = 0; k < shape.k; k += DEPTH) {
        for (int at = threadIdx.x; at < BLOCK_M * DEPTH; at += THREADS)
            tile_a[at / DEPTH][at % DEPTH] = matmul_at(a, corner.row + at / DEPTH, k + at % DEPTH);
        for (int at = threadIdx.x; at < BLOCK_N * DEPTH; at += THREADS)
            tile_b[at / BLOCK_N][at % BLOCK_N] = matmul_at(b, corner.column + at % BLOCK_N, k + at / BLOCK_N);
        __syncthreads();
        for (int p = 0; p < DEPTH; p++) {
            float from_a[THREAD_M], from_b[THREAD_N];
#pragma unroll
            for (int i = 0; i < THREAD_M; i++)
                from_a[i] = tile_a[row + i][p];
#pragma unroll
            for (int j = 0; j < THREAD_N; j++)
                from_b[j] = tile_b[p][column + j];
#pragma unroll
            for (int i = 0; i < THREAD_M; i++)
#pragma unroll
                for (int j = 0; j < THREAD_N; j++)
                    sum[i][j] += from_a[i] * from_b[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < THREAD_M; i++)
#pragma unroll
        for (int j = 0; j < THREAD_N; j++)
            matmul_write(shape, output, corner.row + row + i, corner.column + column + j, sum[i][j]);
}

static heddle_status launch(const heddle_call *call)
{
    MATMUL_LAUNCH(matmul_register_tiles_2d, "05_register_tiles_2d", BLOCK_M, BLOCK_N, THREADS);
}

HEDDLE_CUDA_RUNG("matmul_forward", "05_register_tiles_2d", launch)
