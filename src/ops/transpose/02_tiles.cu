// transpose, rung 2: each tile is transposed in shared memory.
//
// Rung 1 wrote columns. Here a block reads a tile row by row, waits at a barrier, and writes rows of the output. Both
// accesses to global memory are coalesced. The column access happens in shared memory, which has no sectors.
//
// Limited by: bank conflicts. A column of a tile with 32 floats per row lies in one bank: 32 wavefronts instead of 1.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

enum {
    TILE = 32, // a warp handles one row of the tile, so a row is one coalesced request
    ROWS = 8,  // 256 threads per block: each moves TILE / ROWS elements
};

// input: (rows, cols), output: (cols, rows)
__global__ void transpose_tiles(int rows, int cols, const float *input, float *output)
{
    __shared__ float tile[TILE][TILE];
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
        transpose_tiles<<<blocks, dim3(TILE, ROWS), 0, heddle_cuda_stream_of(call)>>>(
            shape->rows, shape->cols, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("02_tiles");
}

HEDDLE_CUDA_RUNG("transpose", "02_tiles", launch)
