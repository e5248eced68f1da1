// matmul, rung 7: no bank conflicts.
//
// Rung 6 had 2-way conflicts in two places: where it stored a transposed tile, and where it read float4s of b that are
// 8 floats apart. Two changes remove them. Rows of the tiles are 4 floats longer: elements of one column now lie in
// different banks, and float4s stay aligned. And a thread's 8 columns are two groups of 4, half a tile apart:
// neighbouring lanes read neighbouring float4s, 128 bytes for 8 lanes.
//
// Limited by: what a warp reads from shared memory. A warp covers 2 by 16 threads, so each step of k reads 16 floats of
// a and all 128 of b.

#include "ops/matmul/tile.h"

enum {
    BLOCK = 128, // rows and columns of a block's tile
    DEPTH = 8,
    SUMS = 8, // by 8: the tile of a thread
    VECTOR = 4,
    PITCH = BLOCK + VECTOR, // of a tile's row: steps of k that are 4 apart lie 16 banks apart
    HALF = BLOCK / 2,
    THREADS_N = BLOCK / SUMS, // threads per row of the tile
    THREADS = THREADS_N * THREADS_N,
};

// Loads the tile (DEPTH, BLOCK) of an operand that starts at `row` and `k`: DEPTH * BLOCK floats are one float4 per
// thread.
__device__ static void fetch(float tile[DEPTH][PITCH], const matmul_operand &operand, int row, int k)
{
    const int thread = threadIdx.x;
    if (matmul_along_k(operand)) {
        int r = thread / (DEPTH / VECTOR), p = thread % (DEPTH / VECTOR) * VECTOR;
        float4 four = matmul_four(operand, row + r, k + p);
        tile[p][r] = four.x;
        tile[p + 1][r] = four.y;
        tile[p + 2][r] = four.z;
        tile[p + 3][r] = four.w;
    } else {
        int r = thread % (BLOCK / VECTOR) * VECTOR, p = thread / (BLOCK / VECTOR);
        *(float4 *)&tile[p][r] = matmul_four(operand, row + r, k + p);
    }
}

// Four floats here and four half a tile further.
__device__ static void read_eight(float to[SUMS], const float *from)
{
    *(float4 *)&to[0] = *(const float4 *)&from[0];
    *(float4 *)&to[VECTOR] = *(const float4 *)&from[HALF];
}

__device__ static int place(int first, int index)
{
    return first + index / VECTOR * HALF + index % VECTOR;
}

// a: (m, k), b: (n, k), output: (m, n)
__global__ void __launch_bounds__(THREADS)
    matmul_no_bank_conflicts(heddle_matmul_shape shape, matmul_operand a, matmul_operand b, float *output)
{
    __shared__ __align__(16) float tile_a[DEPTH][PITCH], tile_b[DEPTH][PITCH]; // (k, m) and (k, n)
    matmul_corner corner = matmul_tile_of(shape, BLOCK, BLOCK);
    int row = threadIdx.x / THREADS_N * VECTOR, column = threadIdx.x % THREADS_N * VECTOR;
    float sum[SUMS][SUMS] = {{0}};
    for (int k = 0; k < shape.k; k += DEPTH) {
        fetch(tile_a, a, corner.row, k);
        fetch(tile_b, b, corner.column, k);
        __syncthreads();
        for (int p = 0; p < DEPTH; p++) {
            __align__(16) float from_a[SUMS], from_b[SUMS];
            read_eight(from_a, &tile_a[p][row]);
            read_eight(from_b, &tile_b[p][column]);
#pragma unroll
            for (int i = 0; i < SUMS; i++)
#pragma unroll
                for (int j = 0; j < SUMS; j++)
                    sum[i][j] += from_a[i] * from_b[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < SUMS; i++)
#pragma unroll
        for (int j = 0; j < SUMS; j++)
            matmul_write(shape, output, corner.row + place(row, i), corner.column + place(column, j), sum[i][j]);
}

static heddle_status launch(const heddle_call *call)
{
    MATMUL_LAUNCH(matmul_no_bank_conflicts, "07_no_bank_conflicts", BLOCK, BLOCK, THREADS);
}

HEDDLE_CUDA_RUNG("matmul_forward", "07_no_bank_conflicts", launch)
