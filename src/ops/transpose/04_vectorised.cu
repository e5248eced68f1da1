// transpose, rung 4: tiles of 64 by 64, moved by 16-byte loads and stores.
//
// Rung 3 moved 4 bytes per instruction, in runs of 128 bytes per row. Here a thread moves 16 bytes, and runs of 256
// bytes per row on both sides suit DRAM pages better. The tile is transposed by scalar accesses to shared memory. The
// pitch is odd, so neighbours in a column lie in neighbouring banks. The lanes of a warp access every fourth of them,
// in two rows or columns at once: they hit 16 banks, two lanes each.
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
};

// Four elements of a row, or fewer at its end. Vector accesses are used only for whole vectors of aligned matrices.
template <bool aligned> __device__ static float4 load_row(const float *row, int col, int cols)
{
    if (aligned)
        return col < cols ? heddle_load4<true>(row + col) : make_float4(0, 0, 0, 0);
    float4 value;
    value.x = col + 0 < cols ? row[col + 0] : 0;
    value.y = col + 1 < cols ? row[col + 1] : 0;
    value.z = col + 2 < cols ? row[col + 2] : 0;
    value.w = col + 3 < cols ? row[col + 3] : 0;
    return value;
}

template <bool aligned> __device__ static void store_row(float *row, int col, int cols, float4 value)
{
    if (aligned) {
        if (col < cols)
            heddle_store4<true>(row + col, value);
        return;
    }
    if (col + 0 < cols)
        row[col + 0] = value.x;
    if (col + 1 < cols)
        row[col + 1] = value.y;
    if (col + 2 < cols)
        row[col + 2] = value.z;
    if (col + 3 < cols)
        row[col + 3] = value.w;
}

// input: (rows, cols), output: (cols, rows). aligned: both start at a multiple of 16 bytes; rows and cols are multiples
// of 4.
template <bool aligned>
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
        value[i] =
            row < rows ? load_row<aligned>(input + (size_t)row * cols, first_col + x, cols) : make_float4(0, 0, 0, 0);
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
        if (first_col + col < cols)
            store_row<aligned>(output + (size_t)(first_col + col) * rows, first_row + x, rows, turned);
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    unsigned blocks = heddle_ceil_div(shape->rows, TILE) * heddle_ceil_div(shape->cols, TILE);
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    bool aligned = shape->rows % HEDDLE_VECTOR == 0 && shape->cols % HEDDLE_VECTOR == 0 && heddle_aligned16(input) &&
                   heddle_aligned16(output);
    if (blocks > 0)
        (aligned ? transpose_vectorised<true>
                 : transpose_vectorised<false>)<<<blocks, THREADS, 0, heddle_cuda_stream_of(call)>>>(
            shape->rows, shape->cols, input, output);
    return heddle_cuda_launched("04_vectorised");
}

HEDDLE_CUDA_RUNG("transpose", "04_vectorised", launch)
