// matmul, rung 9: the next tile is loaded while this one is used.
//
// Rung 8 waited for every tile it loaded. Here shared memory holds two tiles of each operand. cp.async copies from
// global memory into one of them, bypassing registers and without waiting, while the block multiplies the other. An
// operand stored along k is transposed by copies of single floats: a warp writes 8 steps of k of 4 rows. With rows of
// 128 + 4 floats these are 32 different banks.
//
// Limited by: one tile size for all shapes. If the output has fewer tiles than the GPU has SMs, most SMs are idle. And
// 64 sums per thread mean 4 loads from shared memory per 64 multiplications, though there are registers for twice as
// many sums.

#include <cuda_pipeline.h>

#include "ops/matmul/tile.h"

enum {
    BLOCK = 128, // rows and columns of a block's tile
    DEPTH = 8,
    SUMS = 8, // by 8: the tile of a thread
    VECTOR = 4,
    PITCH = BLOCK + VECTOR, // of a tile's row: the next step of k lies 4 banks further
    LANES_M = 8,            // lanes of a warp, down and across
    LANES_N = 4,
    WARP_M = LANES_M * SUMS, // the tile of a warp
    WARP_N = LANES_N * SUMS,
    WARPS_N = BLOCK / WARP_N, // warps per row of the tile
    THREADS = 32 * WARPS_N * (BLOCK / WARP_M),
};

// Starts to copy element (row, k) of an operand; elements outside it are zero.
__device__ static void copy(float *to, const matmul_operand &operand, int row, int k)
{
    if (row < operand.rows && k < operand.k)
        __pipeline_memcpy_async(to, operand.data + row * operand.row_stride + k * operand.k_stride, sizeof(float));
    else
        *to = 0;
}

// Starts to copy the tile (DEPTH, BLOCK) of an operand that starts at `row` and `k`, four floats per thread.
__device__ static void fetch(float tile[DEPTH][PITCH], const matmul_operand &operand, int row, int k)
{
    const int thread = threadIdx.x;
    if (matmul_along_k(operand)) {
        int p = thread % DEPTH;
        for (int r = thread / DEPTH; r < BLOCK; r += THREADS / DEPTH)
            copy(&tile[p][r], operand, row + r, k + p);
    } else {
        int r = thread % (BLOCK / VECTOR) * VECTOR, p = thread / (BLOCK / VECTOR);
        if (matmul_is_vector(operand, row + r, k + p))
            __pipeline_memcpy_async(&tile[p][r], operand.data + (k + p) * operand.k_stride + row + r, sizeof(float4));
        else
            for (int c = 0; c < VECTOR; c++)
                copy(&tile[p][r + c], operand, row + r + c, k + p);
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
    matmul_double_buffered(heddle_matmul_shape shape, matmul_operand a, matmul_operand b, float *output)
{
    __shared__ __align__(16) float tile_a[2][DEPTH][PITCH], tile_b[2][DEPTH][PITCH];
    matmul_corner corner = matmul_tile_of(shape, BLOCK, BLOCK);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int row = warp / WARPS_N * WARP_M + lane / LANES_N * VECTOR;
    int column = warp % WARPS_N * WARP_N + lane % LANES_N * VECTOR;
    float sum[SUMS][SUMS] = {{0}};
    fetch(tile_a[0], a, corner.row, 0);
    fetch(tile_b[0], b, corner.column, 0);
    __pipeline_commit();
    for (int k = 0, now = 0; k < shape.k; k += DEPTH, now = 1 - now) {
        __pipeline_wait_prior(0); // this thread's copies of the tile have arrived,
        __syncthreads();          // so have all others, and no thread reads the other tile any more
        if (k + DEPTH < shape.k) {
            fetch(tile_a[1 - now], a, corner.row, k + DEPTH);
            fetch(tile_b[1 - now], b, corner.column, k + DEPTH);
            __pipeline_commit();
        }
        for (int p = 0; p < DEPTH; p++) {
            __align__(16) float from_a[SUMS], from_b[SUMS];
            read_eight(from_a, &tile_a[now][p][row], WARP_M / 2);
            read_eight(from_b, &tile_b[now][p][column], WARP_N / 2);
#pragma unroll
            for (int i = 0; i < SUMS; i++)
#pragma unroll
                for (int j = 0; j < SUMS; j++)
                    sum[i][j] += from_a[i] * from_b[j];
        }
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
    MATMUL_LAUNCH(matmul_double_buffered, "09_double_buffered", BLOCK, BLOCK, THREADS);
}

HEDDLE_CUDA_RUNG("matmul_forward", "09_double_buffered", launch)
