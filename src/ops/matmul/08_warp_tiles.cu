// matmul, rung 8: each warp computes a nearly square tile.
//
// In rung 7 a warp was 2 threads high and 16 wide: 16 by 128 elements, for which it read 144 floats per step of k. Here
// it is 8 high and 4 wide, 64 by 32 elements, and reads 96: the same multiplications for two thirds of the shared
// memory bandwidth. Only the position of a thread in the block changes.
//
// Limited by: latency. A block loads a tile, waits for it, multiplies, and waits for all threads. Global loads and
// multiplications alternate, and only another block on the same SM fills the gaps.

#include "ops/matmul/tile.h"

enum {
    BLOCK = 128, // rows and columns of a block's tile
    DEPTH = 8,
    SUMS = 8, // by 8: the tile of a thread
    VECTOR = 4,
    PITCH = BLOCK + VECTOR, // of a tile's row: steps of k that are 4 apart lie 16 banks apart
    LANES_M = 8,            // lanes of a warp, down and across
    LANES_N = 4,
    WARP_M = LANES_M * SUMS, // the tile of a warp
    WARP_N = LANES_N * SUMS,
    WARPS_N = BLOCK / WARP_N, // warps per row of the tile
    THREADS = 32 * WARPS_N * (BLOCK / WARP_M),
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

// Four floats here and four half a warp's tile further.
__device__ static void read_eight(float to[SUMS], const float *from, int half)
{
    *(float4 *)&to[0] = *(const float4 *)&from[0];
    *(float4 *)&to[VECTOR] = *(const float4 *)&from[half];
}

__device__ static int place(int first, int index, int half)
{
    return first + index / VECTOR * half + index % VECTOR;
}

// a: (m, k), b: (n, k), output: (m, n)
__global__ void __launch_bounds__(THREADS)
    matmul_warp_tiles(heddle_matmul_shape shape, matmul_operand a, matmul_operand b, float *output)
{
    __shared__ __align__(16) float tile_a[DEPTH][PITCH], tile_b[DEPTH][PITCH]; // (k, m) and (k, n)
    matmul_corner corner = matmul_tile_of(shape, BLOCK, BLOCK);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int row = warp / WARPS_N * WARP_M + lane / LANES_N * VECTOR;
    int column = warp % WARPS_N * WARP_N + lane % LANES_N * VECTOR;
    float sum[SUMS][SUMS] = {{0}};
    for (int k = 0; k < shape.k; k += DEPTH) {
        fetch(tile_a, a, corner.row, k);
        fetch(tile_b, b, corner.column, k);
        __syncthreads();
        for (int p = 0; p < DEPTH; p++) {
            __align__(16) float from_a[SUMS], from_b[SUMS];
            read_eight(from_a, &tile_a[p][row], WARP_M / 2);
            read_eight(from_b, &tile_b[p][column], WARP_N / 2);
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
            matmul_write(shape, output, corner.row + place(row, i, WARP_M / 2),
                         corner.column + place(column, j, WARP_N / 2), sum[i][j]);
}

static heddle_status launch(const heddle_call *call)
{
    MATMUL_LAUNCH(matmul_warp_tiles, "08_warp_tiles", BLOCK, BLOCK, THREADS);
}

HEDDLE_CUDA_RUNG("matmul_forward", "08_warp_tiles", launch)
