// Copies of matrices with rows that start at multiples of 16 bytes and end in zeros, as they are or, of floats,
// transposed, for rungs whose loads need such rows. Elements are copied as bytes.
//
// All accesses are of 16 bytes. A source row may start at any byte: a thread loads the two aligned chunks around its 16
// bytes and shifts them together. A transposed copy goes through shared memory in tiles of 128 by 128 bytes, in which a
// chunk is swizzled by the group of rows that it belongs to, so that neither direction has bank conflicts.
//
// Limited by: memory bandwidth.
#pragma once

#include <stdint.h>

#include "ops/cuda/rung.h"
#include "ops/matmul/pack.h"

// A matrix as a kernel reads it.
typedef struct heddle_packed {
    const void *from;
    size_t pitch; // bytes between rows
} heddle_packed;

enum {
    PACK_CHUNK = HEDDLE_PACK_ALIGNMENT,
    PACK_WORDS = PACK_CHUNK / 4, // per chunk
    PACK_THREADS = 256,
    PACK_WARP = 32,
    PACK_TILE_BYTES = 128, // of a row of a tile, before and after
    PACK_TILE_CHUNKS = PACK_TILE_BYTES / PACK_CHUNK,
    PACK_GRID_Y = 65535, // the most blocks in that direction
};

// The 16 bytes at any address inside the matrix [begin, end); those from `valid` on are zeros.
__device__ static inline uint4 pack_load(const unsigned char *at, int valid, const unsigned char *begin,
                                         const unsigned char *end)
{
    const int shift = (int)((uintptr_t)at % PACK_CHUNK);
    const unsigned char *chunk = at - shift;
    const bool two = shift + valid > PACK_CHUNK;
    uint32_t words[2 * PACK_WORDS] = {};
    if (chunk >= begin && chunk + (two ? 2 : 1) * PACK_CHUNK <= end) {
        const uint4 first = *(const uint4 *)chunk;
        words[0] = first.x, words[1] = first.y, words[2] = first.z, words[3] = first.w;
        if (two) {
            const uint4 second = *(const uint4 *)(chunk + PACK_CHUNK);
            words[4] = second.x, words[5] = second.y, words[6] = second.z, words[7] = second.w;
        }
#pragma unroll
        for (int i = 0; i < 6; i++)
            words[i] = shift & 8 ? words[i + 2] : words[i];
#pragma unroll
        for (int i = 0; i < 5; i++)
            words[i] = shift & 4 ? words[i + 1] : words[i];
#pragma unroll
        for (int i = 0; i < PACK_WORDS; i++)
            words[i] = __funnelshift_r(words[i], words[i + 1], shift % 4 * 8);
    } else { // at an end of the matrix, where the chunks around these bytes stick out
#pragma unroll
        for (int i = 0; i < PACK_CHUNK; i++)
            if (i < valid)
                words[i / 4] |= (uint32_t)at[i] << i % 4 * 8;
    }
#pragma unroll
    for (int i = 0; i < PACK_WORDS; i++)
        if (valid < 4 * i + 4)
            words[i] = valid <= 4 * i ? 0 : words[i] & ((1u << valid % 4 * 8) - 1);
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// to (rows, pitch) = from (rows, columns); one thread per chunk of a row.
template <int ElementBytes>
static __global__ void __launch_bounds__(PACK_THREADS)
    pack_rows(const unsigned char *from, unsigned char *to, int rows, int columns, size_t pitch)
{
    const size_t row_bytes = (size_t)columns * ElementBytes;
    const long long row = (long long)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    for (size_t byte = ((size_t)blockIdx.y * blockDim.x + threadIdx.x) * PACK_CHUNK; byte < pitch;
         byte += (size_t)gridDim.y * blockDim.x * PACK_CHUNK) {
        const int valid = (int)min(row_bytes - byte, (size_t)PACK_CHUNK);
        *(uint4 *)(to + row * pitch + byte) =
            pack_load(from + row * row_bytes + byte, valid, from, from + rows * row_bytes);
    }
}

// to (columns, pitch) = from (rows, columns), transposed, of floats: a tile per block. A thread reads a float of each
// of the four rows that become a chunk.
static __global__ void __launch_bounds__(PACK_THREADS)
    pack_transposed(const unsigned char *from, unsigned char *to, int rows, int columns, size_t pitch)
{
    enum { SIDE = PACK_TILE_BYTES / 4 }; // rows and columns of a tile
    __shared__ uint4 tile[SIDE][PACK_TILE_CHUNKS];
    const size_t row_bytes = (size_t)columns * 4;
    const int across = (columns - 1) / SIDE + 1; // tiles per row of tiles
    const int first_row = blockIdx.x / across * SIDE, first_column = blockIdx.x % across * SIDE;
    const int row = threadIdx.x / PACK_TILE_CHUNKS, part = threadIdx.x % PACK_TILE_CHUNKS;
    const size_t byte = (size_t)first_column * 4 + part * PACK_CHUNK;
    const bool inside = first_row + row < rows && byte < row_bytes;
    tile[row][part ^ row / PACK_WORDS] =
        inside ? pack_load(from + (first_row + row) * row_bytes + byte, (int)min(row_bytes - byte, (size_t)PACK_CHUNK),
                           from, from + rows * row_bytes)
               : make_uint4(0, 0, 0, 0);
    __syncthreads();
    const int group = threadIdx.x % PACK_TILE_CHUNKS, in_tile = threadIdx.x / PACK_TILE_CHUNKS; // a column
    const int chunk = in_tile / PACK_WORDS, in_chunk = in_tile % PACK_WORDS;
    uint32_t words[PACK_WORDS];
#pragma unroll
    for (int i = 0; i < PACK_WORDS; i++)
        words[i] = ((const uint32_t *)&tile[group * PACK_WORDS + i][chunk ^ group])[in_chunk];
    const size_t to_byte = (size_t)first_row * 4 + group * PACK_CHUNK;
    if (first_column + in_tile < columns && to_byte < pitch)
        *(uint4 *)(to + (first_column + in_tile) * pitch + to_byte) =
            make_uint4(words[0], words[1], words[2], words[3]);
}
static_assert(PACK_TILE_BYTES / 4 * PACK_TILE_CHUNKS == PACK_THREADS, "a chunk per thread, and back");

// Matrix (rows, columns) as it is if its rows start at multiples of 16 bytes, else a copy of heddle_pack_bytes bytes at
// *room, which then moves on behind it. *room is aligned; the matrix is not empty.
template <int ElementBytes>
static heddle_status heddle_pack(const heddle_call *call, const void *matrix, int rows, int columns, char **room,
                                 heddle_packed *packed)
{
    const size_t pitch = heddle_pack_pitch(columns, ElementBytes);
    packed->from = matrix;
    packed->pitch = pitch;
    if ((uintptr_t)matrix % PACK_CHUNK == 0 && pitch == (size_t)columns * ElementBytes)
        return HEDDLE_OK;
    unsigned width = 1; // threads over the chunks of a row
    while (width < PACK_WARP && width * PACK_CHUNK < pitch)
        width *= 2;
    const dim3 block(width, PACK_THREADS / width);
    const unsigned blocks_y = heddle_ceil_div((long long)(pitch / PACK_CHUNK), width);
    const dim3 grid(heddle_ceil_div(rows, block.y), blocks_y < PACK_GRID_Y ? blocks_y : (unsigned)PACK_GRID_Y);
    pack_rows<ElementBytes><<<grid, block, 0, heddle_cuda_stream_of(call)>>>(
        (const unsigned char *)matrix, (unsigned char *)*room, rows, columns, pitch);
    packed->from = *room;
    *room += heddle_pack_bytes(rows, columns, ElementBytes);
    return heddle_cuda_launched("pack_rows");
}

// Matrix (rows, columns) of floats transposed, (columns, rows), at *room, which moves on behind it.
static inline heddle_status heddle_pack_transposed(const heddle_call *call, const float *matrix, int rows, int columns,
                                                   char **room, heddle_packed *packed)
{
    const int side = PACK_TILE_BYTES / (int)sizeof(float);
    packed->from = *room;
    packed->pitch = heddle_pack_pitch(rows, sizeof(float));
    pack_transposed<<<heddle_ceil_div(rows, side) * heddle_ceil_div(columns, side), PACK_THREADS, 0,
                      heddle_cuda_stream_of(call)>>>((const unsigned char *)matrix, (unsigned char *)*room, rows,
                                                     columns, packed->pitch);
    *room += heddle_pack_bytes(columns, rows, sizeof(float));
    return heddle_cuda_launched("pack_transposed");
}
