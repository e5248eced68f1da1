// matmul_fp8, rung 2: tiles in shared memory, loaded 16 numbers at a time and converted once.
//
// Rung 1 loaded and converted two bytes per multiplication. Here a thread loads 16 neighbours of a row as one vector,
// converts them to float32 and stores them to shared memory, where 64 rows of the other operand use them. Tiles are
// stored k by k, so that a thread reads its four rows of a, and its four of b, as one vector each: 8 numbers for 16
// multiplications.
//
// Limited by: float32 multiplications, one per product. Tensor cores do hundreds with one instruction.

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

enum {
    TILE = 64,  // rows of a, and of b, per block
    DEPTH = 64, // numbers of a row in a tile: 32 KiB for both
    LOAD = 16,  // numbers that a thread loads at once
    THREADS_DOWN = 16,
    THREADS = THREADS_DOWN * THREADS_DOWN,
    RESULTS = TILE / THREADS_DOWN, // per thread, in each direction: a vector of floats
};
static_assert(THREADS * LOAD == TILE * DEPTH, "one load per thread and tile");

union sixteen {
    uint4 vector;
    __nv_fp8x4_e4m3 four[LOAD / 4];
    __nv_fp8_storage_t bytes[LOAD];
};

// Loads rows [first, first + TILE) of matrix (rows, k), columns from `column`; zeros beyond its edges. aligned: rows
// begin at multiples of 16 bytes, and so end with a whole vector. The lanes of a warp have different rows, and store to
// different banks.
template <bool aligned>
__device__ static void load_tile(float (&tile)[DEPTH][TILE], const __nv_fp8_storage_t *matrix, int rows, int k,
                                 int first, int column)
{
    const int row = threadIdx.x % TILE, depth = threadIdx.x / TILE * LOAD, at = column + depth;
    const __nv_fp8_storage_t *from = matrix + (size_t)(first + row) * k + at;
    sixteen loaded;
    loaded.vector = make_uint4(0, 0, 0, 0);
    if (aligned && first + row < rows && at < k)
        loaded.vector = *(const uint4 *)from;
#pragma unroll
    for (int i = 0; i < LOAD; i++)
        if (!aligned && first + row < rows && at + i < k)
            loaded.bytes[i] = from[i];
#pragma unroll
    for (int i = 0; i < LOAD / 4; i++) {
        const float4 four = (float4)loaded.four[i];
        tile[depth + 4 * i][row] = four.x;
        tile[depth + 4 * i + 1][row] = four.y;
        tile[depth + 4 * i + 2][row] = four.z;
        tile[depth + 4 * i + 3][row] = four.w;
    }
}

// a: (m, k), b: (n, k), output: (m, n)
template <bool aligned>
__global__ void __launch_bounds__(THREADS)
    matmul_fp8_tiled(heddle_matmul_fp8_shape shape, const __nv_fp8_storage_t *a, const __nv_fp8_storage_t *b,
                     const float *scale_a, const float *scale_b, __nv_bfloat16 *output)
{
    __shared__ __align__(16) float tile_a[DEPTH][TILE], tile_b[DEPTH][TILE];
    const int across = (shape.n - 1) / TILE + 1;
    const int first_i = blockIdx.x / across * TILE, first_j = blockIdx.x % across * TILE;
    const int in_i = threadIdx.x / THREADS_DOWN * RESULTS, in_j = threadIdx.x % THREADS_DOWN * RESULTS;

    float sum[RESULTS][RESULTS] = {};
    for (int column = 0; column < shape.k; column += DEPTH) {
        load_tile<aligned>(tile_a, a, shape.m, shape.k, first_i, column);
        load_tile<aligned>(tile_b, b, shape.n, shape.k, first_j, column);
        __syncthreads();
#pragma unroll 8
        for (int p = 0; p < DEPTH; p++) {
            const float4 rows = *(const float4 *)&tile_a[p][in_i], columns = *(const float4 *)&tile_b[p][in_j];
            const float of_a[RESULTS] = {rows.x, rows.y, rows.z, rows.w};
            const float of_b[RESULTS] = {columns.x, columns.y, columns.z, columns.w};
#pragma unroll
            for (int i = 0; i < RESULTS; i++)
#pragma unroll
                for (int j = 0; j < RESULTS; j++)
                    sum[i][j] += of_a[i] * of_b[j];
        }
        __syncthreads();
    }

    const float scale = *scale_a * *scale_b;
#pragma unroll
    for (int i = 0; i < RESULTS; i++)
#pragma unroll
        for (int j = 0; j < RESULTS; j++) {
            const int row = first_i + in_i + i, column = first_j + in_j + j;
            if (row < shape.m && column < shape.n)
                output[(size_t)row * shape.n + column] = __float2bfloat16(scale * sum[i][j]);
        }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_fp8_shape *shape = (const heddle_matmul_fp8_shape *)call->shape;
    const __nv_fp8_storage_t *a = (const __nv_fp8_storage_t *)call->input[0];
    const __nv_fp8_storage_t *b = (const __nv_fp8_storage_t *)call->input[1];
    const unsigned blocks = heddle_ceil_div(shape->m, TILE) * heddle_ceil_div(shape->n, TILE);
    const bool aligned = shape->k % LOAD == 0 && heddle_aligned16(a) && heddle_aligned16(b);
    if (blocks > 0)
        (aligned ? matmul_fp8_tiled<true>
                 : matmul_fp8_tiled<false>)<<<blocks, THREADS, 0, heddle_cuda_stream_of(call)>>>(
            *shape, a, b, (const float *)call->input[2], (const float *)call->input[3],
            (__nv_bfloat16 *)call->output[0]);
    return heddle_cuda_launched("02_tiled");
}

HEDDLE_CUDA_RUNG("matmul_fp8", "02_tiled", launch)
