// matmul_int8, rung 3: tensor cores, fed from three stages of shared memory.
//
// Rung 2 was limited by the multipliers of the regular cores. One mma instruction of a warp multiplies 16 by 32 bytes
// by 32 by 8. ldmatrix loads its operands and gives every lane the bytes for its place in the instruction. 16-byte
// chunks are swizzled within their rows, so that the eight rows of such a matrix lie in different banks. While a tile
// is multiplied, cp.async loads the next two, bypassing registers. It takes 16 bytes at multiples of 16, so operands
// with other rows are copied first (ops/matmul/pack_cuda.h).
//
// Limited by: the rate of mma.sync; Hopper's full rate needs wgmma.

#include "heddle/ops.h"
#include "ops/cuda/mma.h"
#include "ops/cuda/rung.h"
#include "ops/matmul/pack_cuda.h"

enum {
    TILE = 128, // rows of a, and of b, per block
    DEPTH = 64, // bytes of a row in a stage
    CHUNK = 16, // bytes of one cp.async, and of a row of an ldmatrix
    CHUNKS = DEPTH / CHUNK,
    STAGES = 3, // 48 KiB: what a block may have without a request
    THREADS = 256,
    BLOCKS_PER_SM = 2, // 128 registers per thread, half of them for the sums
    WARP = 32,
    WARPS_DOWN = 2, // warps over the rows of a; the other four over those of b
    WARP_ROWS = TILE / WARPS_DOWN,
    WARP_COLS = TILE / (THREADS / WARP / WARPS_DOWN),
    MMA_M = 16,
    MMA_N = 8,
    MMA_K = 32, // bytes
    MMAS_DOWN = WARP_ROWS / MMA_M,
    MMAS_ACROSS = WARP_COLS / MMA_N,
};

typedef signed char stage_tile[TILE][DEPTH];

// Where chunk `chunk` of a row lies: rows two apart use different banks.
__device__ static signed char *chunk_of(stage_tile tile, int row, int chunk)
{
    return &tile[row][(chunk ^ (row / 2 % CHUNKS)) * CHUNK];
}

// Starts the copy of rows [first, first + TILE) of a matrix of `rows` rows, bytes from `column`.
__device__ static void load_tile(stage_tile tile, const heddle_packed &matrix, int rows, int first, int column)
{
    for (int at = threadIdx.x; at < TILE * CHUNKS; at += THREADS) {
        int row = at / CHUNKS, chunk = at % CHUNKS;
        size_t from = column + chunk * CHUNK;
        signed char *to = chunk_of(tile, row, chunk);
        if (first + row < rows && from < matrix.pitch)
            cp_async_16(to, (const signed char *)matrix.from + (first + row) * matrix.pitch + from);
        else
            *(uint4 *)to = make_uint4(0, 0, 0, 0);
    }
}

// One stage's products: (WARP_ROWS, DEPTH) of a by (WARP_COLS, DEPTH) of b.
__device__ static void multiply(stage_tile tile_a, stage_tile tile_b, int first_row, int first_col,
                                int sum[MMAS_DOWN][MMAS_ACROSS][4])
{
    int lane = threadIdx.x % WARP;
#pragma unroll
    for (int depth = 0; depth < DEPTH / MMA_K; depth++) {
        uint32_t a[MMAS_DOWN][4];
#pragma unroll
        for (int i = 0; i < MMAS_DOWN; i++) // lanes 0 to 15 address rows of the left half, 16 to 31 of the right
            ldmatrix_x4(a[i], chunk_of(tile_a, first_row + i * MMA_M + lane % 16, depth * 2 + lane / 16));
#pragma unroll
        for (int j = 0; j < MMAS_ACROSS; j++) {
            uint32_t b[2];
            ldmatrix_x2(b, chunk_of(tile_b, first_col + j * MMA_N + lane % 8, depth * 2 + lane / 8 % 2));
#pragma unroll
            for (int i = 0; i < MMAS_DOWN; i++)
                mma_m16n8k32_int8(sum[i][j], a[i], b, sum[i][j]);
        }
    }
}

// A lane has two neighbours of row lane / 4, and two of the row eight below.
__device__ static void store(const heddle_matmul_int8_shape *shape, const float *scale_a, const float *scale_b,
                             float *output, int first_row, int first_col, int sum[MMAS_DOWN][MMAS_ACROSS][4])
{
    int lane = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < MMAS_DOWN; i++)
#pragma unroll
        for (int j = 0; j < MMAS_ACROSS; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int row = first_row + i * MMA_M + lane / 4 + e / 2 * 8;
                int col = first_col + j * MMA_N + lane % 4 * 2 + e % 2;
                if (row < shape->m && col < shape->n)
                    output[(size_t)row * shape->n + col] = scale_a[row] * scale_b[col] * (float)sum[i][j][e];
            }
}

// a: (m, k), b: (n, k), output: (m, n)
__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    matmul_int8_mma(heddle_matmul_int8_shape shape, heddle_packed a, heddle_packed b, const float *scale_a,
                    const float *scale_b, float *output)
{
    __shared__ __align__(128) stage_tile tile_a[STAGES], tile_b[STAGES];
    int across = (shape.n - 1) / TILE + 1, steps = (shape.k + DEPTH - 1) / DEPTH;
    int first_i = blockIdx.x / across * TILE, first_j = blockIdx.x % across * TILE;
    int warp = threadIdx.x / WARP;
    int warp_row = warp % WARPS_DOWN * WARP_ROWS, warp_col = warp / WARPS_DOWN * WARP_COLS;

    int sum[MMAS_DOWN][MMAS_ACROSS][4] = {{{0}}};
    for (int step = 0; step < STAGES - 1; step++) {
        if (step < steps) {
            load_tile(tile_a[step], a, shape.m, first_i, step * DEPTH);
            load_tile(tile_b[step], b, shape.n, first_j, step * DEPTH);
        }
        cp_async_commit(); // empty groups too: the number of groups tells which stage is complete
    }
    for (int step = 0; step < steps; step++) {
        cp_async_wait_group<STAGES - 2>();
        __syncthreads(); // all copies have arrived, and all warps have left the stage that is loaded next
        int next = step + STAGES - 1;
        if (next < steps) {
            load_tile(tile_a[next % STAGES], a, shape.m, first_i, next * DEPTH);
            load_tile(tile_b[next % STAGES], b, shape.n, first_j, next * DEPTH);
        }
        cp_async_commit();
        multiply(tile_a[step % STAGES], tile_b[step % STAGES], warp_row, warp_col, sum);
    }
    store(&shape, scale_a, scale_b, output, first_i + warp_row, first_j + warp_col, sum);
}

// workspace: room for a copy of a and of b
static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_int8_shape *shape = (const heddle_matmul_int8_shape *)call->shape;
    const unsigned blocks = heddle_ceil_div(shape->m, TILE) * heddle_ceil_div(shape->n, TILE);
    char *room = (char *)call->workspace;
    heddle_packed a = {}, b = {};
    if (blocks == 0)
        return HEDDLE_OK;
    if (shape->k > 0) {
        HEDDLE_TRY(heddle_pack<1>(call, call->input[0], shape->m, shape->k, &room, &a));
        HEDDLE_TRY(heddle_pack<1>(call, call->input[1], shape->n, shape->k, &room, &b));
    }
    matmul_int8_mma<<<blocks, THREADS, 0, heddle_cuda_stream_of(call)>>>(
        *shape, a, b, (const float *)call->input[2], (const float *)call->input[3], (float *)call->output[0]);
    return heddle_cuda_launched("03_mma");
}

HEDDLE_CUDA_RUNG("matmul_int8", "03_mma", launch)
