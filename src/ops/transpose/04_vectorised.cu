// transpose, rung 4: tiles of 64 by 64, moved by 16-byte loads and stores.
//
// Rung 3 moved 4 bytes per instruction, in runs of 128 bytes per row. Here a thread moves 16 bytes, and runs of 256
// bytes per row on both sides suit DRAM pages better. The tile is transposed by scalar accesses to shared memory. The
// pitch is odd, so neighbours in a column lie in neighbouring banks. The lanes of a warp access every fourth of them,
// in two rows or columns at once: they hit 16 banks, two lanes each.
//
// Where rows begin anywhere, a thread moves 4 bytes at a time, and a block writes whole lines of the cache.
//
// Limited by: memory bandwidth, and by the long distance between rows of both matrices: each row lies in a different
// DRAM page.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

enum {
    TILE = 64,
    PADDING = 1,
    THREADS = 256,
    ACROSS = TILE / HEDDLE_VECTOR, // threads along a row of the tile
    ROWS = THREADS / ACROSS,       // rows of the tile moved at once by all threads
    LINE = 32,                     // elements of a line of the cache
    LINES = 4 * LINE,              // rows of a tile that begins at lines
};

// input: (rows, cols), output: (cols, rows). Both start at a multiple of 16 bytes; rows and cols are multiples of 4.
__global__ void __launch_bounds__(THREADS) transpose_vectorised(int rows, int cols, const float *input, float *output)
{
    __shared__ float tile[TILE][TILE + PADDING];
    int across = (cols - 1) / TILE + 1; // tiles per row of tiles
    int first_row = blockIdx.x / across * TILE, first_col = blockIdx.x % across * TILE;
    int x = threadIdx.x % ACROSS * HEDDLE_VECTOR, y = threadIdx.x / ACROSS;

    float4 value[TILE / ROWS]; // all loads are issued before the first is used
#pragma unroll
    for (int i = 0; i < TILE / ROWS; i++) {
        int row = first_row + y + i * ROWS;
        value[i] = row < rows && first_col + x < cols ? heddle_load4<true>(input + (size_t)row * cols + first_col + x)
                                                      : make_float4(0, 0, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < TILE / ROWS; i++) {
        float *to = &tile[y + i * ROWS][x];
        to[0] = value[i].x;
        to[1] = value[i].y;
        to[2] = value[i].z;
        to[3] = value[i].w;
    }

    __syncthreads();

#pragma unroll
    for (int i = 0; i < TILE / ROWS; i++) {
        int col = y + i * ROWS; // a column of the input is a row of the output
        float4 turned = make_float4(tile[x][col], tile[x + 1][col], tile[x + 2][col], tile[x + 3][col]);
        if (first_col + col < cols && first_row + x < rows)
            heddle_store4<true>(output + (size_t)(first_col + col) * rows + first_row + x, turned);
    }
}

// Rows that begin anywhere: neighbouring lanes move neighbouring elements. A line of 128 bytes of the output that two
// blocks wrote would take twice as long, so a block writes whole lines: in every row of the output its elements begin
// at another place, up to 31 later. It reads so many rows more of the input, which its neighbour has in the cache.
__global__ void __launch_bounds__(THREADS) transpose_ragged(int rows, int cols, const float *input, float *output)
{
    __shared__ float tile[LINES + LINE][LINE + PADDING];
    int across = (cols - 1) / LINE + 1;
    int first_row = blockIdx.x / across * LINES, first_col = blockIdx.x % across * LINE;
    int x = threadIdx.x % LINE, y = threadIdx.x / LINE;
#pragma unroll 5
    for (int row = y; row < LINES + LINE; row += THREADS / LINE)
        if (first_row + row < rows && first_col + x < cols)
            tile[row][x] = input[(size_t)(first_row + row) * cols + first_col + x];

    __syncthreads();

    for (int col = y; col < LINE && first_col + col < cols; col += THREADS / LINE) {
        float *to = output + (size_t)(first_col + col) * rows;
        int shift = (int)((LINE - (size_t)to / sizeof(float) % LINE) % LINE); // to the row's first line
        int before = first_row == 0 ? LINE : 0;                               // the first block has what lies before it
#pragma unroll 5
        for (int at = shift - before + x; at < shift + LINES; at += LINE)
            if (at >= 0 && first_row + at < rows)
                to[first_row + at] = tile[at][col];
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    bool aligned = shape->rows % HEDDLE_VECTOR == 0 && shape->cols % HEDDLE_VECTOR == 0 && heddle_aligned16(input) &&
                   heddle_aligned16(output);
    unsigned blocks = aligned ? heddle_ceil_div(shape->rows, TILE) * heddle_ceil_div(shape->cols, TILE)
                              : heddle_ceil_div(shape->rows, LINES) * heddle_ceil_div(shape->cols, LINE);
    if (blocks > 0)
        (aligned ? transpose_vectorised : transpose_ragged)<<<blocks, THREADS, 0, heddle_cuda_stream_of(call)>>>(
            shape->rows, shape->cols, input, output);
    return heddle_cuda_launched("04_vectorised");
}

HEDDLE_CUDA_RUNG("transpose", "04_vectorised", launch)
