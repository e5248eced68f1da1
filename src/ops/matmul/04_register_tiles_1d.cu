// matmul, rung 4: each thread computes 8 elements of a column.
//
// Rung 3 loaded two floats from shared memory per multiplication. Here a thread keeps 8 sums in registers, for 8 rows
// of one column. One load of b serves all 8, so 8 multiplications take 9 loads instead of 16.
//
// Limited by: shared memory, still with more than one load per multiplication. Each load of a serves only one column.

#include "ops/matmul/tile.h"

enum {
    BLOCK_M = 64,
    BLOCK_N = 64,
    DEPTH = 8,    // steps of k per tile: each of the 512 threads then loads one element of a and one of b
    THREAD_M = 8, // sums per thread
    THREADS = BLOCK_M / THREAD_M * BLOCK_N,
};

// a: (m, k), b: (n, k), output: (m, n)
__global__ void __launch_bounds__(THREADS)
    matmul_register_tiles_1d(heddle_matmul_shape shape, matmul_operand a, matmul_operand b, float *output)
{
    __shared__ float tile_a[BLOCK_M][DEPTH], tile_b[DEPTH][BLOCK_N];
    matmul_corner corner = matmul_tile_of(shape, BLOCK_M, BLOCK_N);
    int thread = threadIdx.x;
    int row = thread / BLOCK_N * THREAD_M, column = thread % BLOCK_N; // of this thread's sums in the block's tile
    float sum[THREAD_M] = {0};
    for (int k = 0; k < shape.k; k += DEPTH) {
        tile_a[thread / DEPTH][thread % DEPTH] = matmul_at(a, corner.row + thread / DEPTH, k + thread % DEPTH);
        tile_b[thread / BLOCK_N][thread % BLOCK_N] =
            matmul_at(b, corner.column + thread % BLOCK_N, k + thread / BLOCK_N);
        __syncthreads();
        for (int p = 0; p < DEPTH; p++) {
            float from_b = tile_b[p][column];
#pragma unroll
            for (int i = 0; i < THREAD_M; i++)
                sum[i] += tile_a[row + i][p] * from_b;
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < THREAD_M; i++)
        matmul_write(shape, output, corner.row + row + i, corner.column + column, sum[i]);
}

static heddle_status launch(const heddle_call *call)
{
    MATMUL_LAUNCH(matmul_register_tiles_1d, "04_register_tiles_1d", BLOCK_M, BLOCK_N, THREADS);
}

HEDDLE_CUDA_RUNG("matmul_forward", "04_register_tiles_1d", launch)
