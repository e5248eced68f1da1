// matmul_int8, rung 2: tiles in shared memory, four bytes per word, and __dp4a.
//
// Rung 1 loaded two bytes per product. Here four neighbours of a row are loaded as one word, a block's tiles are loaded
// once, and __dp4a multiplies four pairs of bytes and adds them in one instruction. A thread has 4 by 4 results, so
// eight words loaded from shared memory serve sixteen such instructions.
//
// Limited by: shared memory, one load for every two instructions; and the multipliers of the regular cores, which are
// far slower than the tensor cores.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/matmul_int8/words.h"

enum {
    TILE = 64,         // rows of a, and of b, per block
    WORDS = 8,         // words per row of a tile: 32 bytes
    PITCH = WORDS + 1, // odd: rows begin in different banks
    THREADS_ACROSS = 16,
    THREADS = THREADS_ACROSS * THREADS_ACROSS,
    RESULTS = TILE / THREADS_ACROSS, // per thread, in each direction
};

// Loads rows [first, first + TILE) of matrix (rows, k), columns from `column`.
__device__ static void load_tile(int (*tile)[PITCH], const signed char *matrix, int rows, int k, int first, int column)
{
    for (int at = threadIdx.x; at < TILE * WORDS; at += THREADS) {
        int row = at / WORDS, word = at % WORDS;
        tile[row][word] = heddle_int8_word(matrix, rows, k, first + row, column + HEDDLE_INT8_WORD * word);
    }
}

// a: (m, k), b: (n, k), output: (m, n)
__global__ void __launch_bounds__(THREADS)
    matmul_int8_dp4a(heddle_matmul_int8_shape shape, const signed char *a, const signed char *b, const float *scale_a,
                     const float *scale_b, float *output)
{
    __shared__ int tile_a[TILE][PITCH], tile_b[TILE][PITCH];
    int across = (shape.n - 1) / TILE + 1;
    int first_i = blockIdx.x / across * TILE, first_j = blockIdx.x % across * TILE;
    int x = threadIdx.x % THREADS_ACROSS, y = threadIdx.x / THREADS_ACROSS;

    int sum[RESULTS][RESULTS] = {{0}};
    for (int column = 0; column < shape.k; column += HEDDLE_INT8_WORD * WORDS) {
        load_tile(tile_a, a, shape.m, shape.k, first_i, column);
        load_tile(tile_b, b, shape.n, shape.k, first_j, column);
        __syncthreads();
#pragma unroll
        for (int word = 0; word < WORDS; word++)
#pragma unroll
            for (int i = 0; i < RESULTS; i++)
#pragma unroll
                for (int j = 0; j < RESULTS; j++)
                    sum[i][j] =
                        __dp4a(tile_a[y + i * THREADS_ACROSS][word], tile_b[x + j * THREADS_ACROSS][word], sum[i][j]);
        __syncthreads();
    }

    for (int i = 0; i < RESULTS; i++)
        for (int j = 0; j < RESULTS; j++) {
            int row = first_i + y + i * THREADS_ACROSS, col = first_j + x + j * THREADS_ACROSS;
            if (row < shape.m && col < shape.n)
                output[(size_t)row * shape.n + col] = scale_a[row] * scale_b[col] * (float)sum[i][j];
        }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_int8_shape *shape = (const heddle_matmul_int8_shape *)call->shape;
    unsigned blocks = heddle_ceil_div(shape->m, TILE) * heddle_ceil_div(shape->n, TILE);
    if (blocks > 0)
        matmul_int8_dp4a<<<blocks, THREADS, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const signed char *)call->input[0], (const signed char *)call->input[1],
            (const float *)call->input[2], (const float *)call->input[3], (float *)call->output[0]);
    return heddle_cuda_launched("02_dp4a");
}

HEDDLE_CUDA_RUNG("matmul_int8", "02_dp4a", launch)
