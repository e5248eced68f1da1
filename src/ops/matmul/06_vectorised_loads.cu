// matmul, rung 6: four floats per load.
//
// Rung 5 needed 16 loads from shared memory for 64 multiplications, and 8 from global memory per tile. With float4
// these are 4 and 2. A thread's 8 rows of a must then be neighbours in shared memory too, so tile_a is stored as (k,
// m): it is transposed while it is loaded. The tile of b is (k, n) already. An operand with the other storage order
// takes the other path, and is coalesced again.
//
// Limited by: bank conflicts. When a is transposed, lanes that loaded the two halves of one row hit the same bank:
// 2-way. When b is read, the float4s are 8 floats apart, so 8 lanes span 256 bytes but a wavefront has 128: 2-way
// again.

#include "ops/matmul/tile.h"

enum {
    BLOCK = 128, // rows and columns of a block's tile
    DEPTH = 8,
    SUMS = 8, // by 8: the tile of a thread
    VECTOR = 4,
    THREADS_N = BLOCK / SUMS, // threads per row of the tile
    THREADS = THREADS_N * THREADS_N,
};

// Loads the tile (DEPTH, BLOCK) of an operand that starts at `row` and `k`: DEPTH * BLOCK floats are one float4 per
// thread.
__device__ static void fetch(float tile[DEPTH][BLOCK], const matmul_operand &operand, int row, int k)
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

__device__ static void read_eight(float to[SUMS], const float *from)
{
    *(float4 *)&to[0] = *(const float4 *)&from[0];
    *(float4 *)&to[VECTOR] = *(const float4 *)&from[VECTOR];
}

// a: (m, k), b: (n, k), output: (m, n)
__global__ void __launch_bounds__(THREADS)
    matmul_vectorised_loads(heddle_matmul_shape shape, matmul_operand a, matmul_operand b, float *output)
{
    __shared__ __align__(16) float tile_a[DEPTH][BLOCK], tile_b[DEPTH][BLOCK]; // (k, m) and (k, n)
    matmul_corner corner = matmul_tile_of(shape, BLOCK, BLOCK);
    int row = threadIdx.x / THREADS_N * SUMS, column = threadIdx.x % THREADS_N * SUMS;
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
            matmul_write(shape, output, corner.row + row + i, corner.column + column + j, sum[i][j]);
}

static heddle_status launch(const heddle_call *call)
{
    MATMUL_LAUNCH(matmul_vectorised_loads, "06_vectorised_loads", BLOCK, BLOCK, THREADS);
}

HEDDLE_CUDA_RUNG("matmul_forward", "06_vectorised_loads", launch)
