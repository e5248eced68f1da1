// transpose, rung 4: tiles of 64 by 64, moved by 16-byte loads and stores.
//
// Rung 3 moved 4 bytes per instruction, in runs of 128 bytes per row. Here a thread moves 16 bytes, and runs of 256
// bytes per row on both sides suit DRAM pages better. The tile is transposed by scalar accesses to shared memory. The
// pitch is odd, so neighbours in a column lie in neighbouring banks. The lanes of a warp access every fourth of them,
// in two rows or columns at once: they hit 16 banks, two lanes each.
//
// Where a tile's edge would split sectors of the output's rows, a block writes whole lines of the cache instead: see
// transpose_lines below.
//
// Limited by: memory bandwidth, and by the long distance between rows of both matrices: each row lies in a different
// DRAM page.

#include <cuda_pipeline.h>

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

enum {
    TILE = 64,
    PADDING = 1,
    THREADS = 256,
    ACROSS = TILE / HEDDLE_VECTOR, // threads along a row of the tile
    ROWS = THREADS / ACROSS,       // rows of the tile moved at once by all threads
    SECTOR = 8,                    // elements of a sector of the memory
    LINE = 32,                     // elements of a line of the cache
    EDGE = LINE,                   // where a block's part of a row of the output may begin
    MOST_LINES = 11,               // as long as such a part may be
    BLOCKS_PER_SM = 4,             // as many at least, if the matrix is large enough
};

// input: (rows, cols), output: (cols, rows). Their rows begin at multiples of 16 and 32 bytes.
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

// Where row `row`, column `col` of a tile with rows of one line lies in shared memory. The eight vectors of a row are
// permuted, in another way for every fourth row. So the same column of rows 0, 4, 8, ... 28 lies in eight banks.
__device__ static int place(int row, int col)
{
    return row * LINE + (col / HEDDLE_VECTOR ^ row / HEDDLE_VECTOR % 8) * HEDDLE_VECTOR + col % HEDDLE_VECTOR;
}

// Rows of the output that begin anywhere. A sector of 32 bytes that two blocks write in parts takes longer than one
// that is written whole. Here a block writes whole lines of 128 bytes: in every row of the output its elements begin at
// another place, less than EDGE later. It reads so many rows more of the input, which its neighbour has in the cache.
//
// The tile is copied by cp.async, which needs no registers, so all of it is in flight at once. Eight lanes then write a
// line, 16 bytes each, and a warp has four columns: the loads of a vector's elements hit 32 banks.
//
// aligned: rows of the input begin at multiples of 16 bytes.
template <bool aligned>
__global__ void __launch_bounds__(THREADS)
    transpose_lines(int rows, int cols, int lines, const float *input, float *output)
{
    __shared__ __align__(16) float tile[(MOST_LINES * LINE + EDGE) * LINE];
    constexpr int WIDTH = aligned ? HEDDLE_VECTOR : 1; // elements per copy
    int across = (cols - 1) / LINE + 1;
    int first_row = (int)(blockIdx.x / across) * lines * LINE, first_col = (int)(blockIdx.x % across) * LINE;
    int left = rows - first_row, loaded = min(left, lines * LINE + EDGE);
    int x = threadIdx.x % (LINE / WIDTH) * WIDTH, y = threadIdx.x / (LINE / WIDTH);
    if (first_col + x < cols)
        for (int row = y; row < loaded; row += THREADS * WIDTH / LINE)
            __pipeline_memcpy_async(&tile[place(row, x)], &input[(size_t)(first_row + row) * cols + first_col + x],
                                    WIDTH * sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();

    int col = threadIdx.x / 8, part = threadIdx.x % 8 * HEDDLE_VECTOR; // eight threads per column
    if (first_col + col >= cols)
        return;
    float *to = output + (size_t)(first_col + col) * rows + first_row;
    int shift = (int)((EDGE - (size_t)to / sizeof(float) % EDGE) % EDGE); // to the first edge
    int from[HEDDLE_VECTOR];
    for (int i = 0; i < HEDDLE_VECTOR; i++)
        from[i] = place(shift + part + i, col); // 32 rows later, vectors are permuted in the same way
    for (int line = first_row == 0 ? -1 : 0; line < lines; line++) { // the first block has what lies before the edge
        int at = shift + line * LINE + part, down = line * LINE * LINE;
        if (at >= 0 && at + HEDDLE_VECTOR <= left)
            heddle_store4<true>(to + at, make_float4(tile[down + from[0]], tile[down + from[1]], tile[down + from[2]],
                                                     tile[down + from[3]]));
        else
            for (int i = 0; i < HEDDLE_VECTOR; i++)
                if (at + i >= 0 && at + i < left)
                    to[at + i] = tile[down + from[i]];
    }
}

// Small matrices are cut into small tiles, so that every SM has several.
static int choose_lines(const heddle_rows_shape *shape)
{
    int lines = MOST_LINES;
    unsigned wanted = (unsigned)heddle_cuda_multiprocessors() * BLOCKS_PER_SM;
    while (lines > 3 && heddle_ceil_div(shape->rows, lines * LINE) * heddle_ceil_div(shape->cols, LINE) < wanted)
        lines -= 2;
    return lines;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    bool aligned = shape->cols % HEDDLE_VECTOR == 0 && heddle_aligned16(input);
    if (shape->rows == 0 || shape->cols == 0)
        return HEDDLE_OK;
    if (aligned && shape->rows % SECTOR == 0 && (uintptr_t)output % (SECTOR * sizeof(float)) == 0) {
        unsigned blocks = heddle_ceil_div(shape->rows, TILE) * heddle_ceil_div(shape->cols, TILE);
        transpose_vectorised<<<blocks, THREADS, 0, stream>>>(shape->rows, shape->cols, input, output);
    } else {
        int lines = choose_lines(shape);
        unsigned blocks = heddle_ceil_div(shape->rows, lines * LINE) * heddle_ceil_div(shape->cols, LINE);
        (aligned ? transpose_lines<true> : transpose_lines<false>)<<<blocks, THREADS, 0, stream>>>(
            shape->rows, shape->cols, lines, input, output);
    }
    return heddle_cuda_launched("04_vectorised");
}

HEDDLE_CUDA_RUNG("transpose", "04_vectorised", launch)
