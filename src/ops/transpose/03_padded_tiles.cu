// transpose, rung 3: tiles in shared memory with one column of padding.
//
// Rung 2 read each column of its tile from a single bank. One unused float per row moves the start of each row to the
// next bank, so a column touches all 32 banks.
//
// Limited by: the number of requests. A warp asks for 128 bytes at a time, and each thread has four such loads in
// flight. Rung 4 moves the same bytes with a quarter of the instructions.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

enum {
    TILE = 32, // a warp handles one row of the tile, so a row is one coalesced request
    ROWS = 8,  // 256 threads per block: each moves TILE / ROWS elements
    PADDING = 1,
};

// input: (rows, cols), output: (cols, rows)
__global__ void transpose_padded_tiles(int rows, int cols, const float *input, float *output)
{
    __shared__ float tile[TILE][TILE + PADDING];
    int across = (cols - 1) / TILE + 1; // tiles per row of tiles
    int first_row = blockIdx.x / across * TILE, first_col = blockIdx.x % across * TILE;

    int col = first_col + threadIdx.x, row = first_row + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        if (row + i < rows && col < cols)
            tile[threadIdx.y + i][threadIdx.x] = input[(size_t)(row + i) * cols + col];

    __syncthreads();

    // The block writes the mirrored tile: x runs along a row of the output again.
    col = first_row + threadIdx.x;
    row = first_col + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        if (row + i < cols && col < rows)
            output[(size_t)(row + i) * rows + col] = tile[threadIdx.x][threadIdx.y + i];
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    unsigned blocks = heddle_ceil_div(shape->rows, TILE) * heddle_ceil_div(shape->cols, TILE);
    if (blocks > 0)
        transpose_padded_tiles<<<blocks, dim3(TILE, ROWS), 0, heddle_cuda_stream_of(call)>>>(
            shape->rows, shape->cols, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("03_padded_tiles");
}

HEDDLE_CUDA_RUNG("transpose", "03_padded_tiles", launch)
