// Tiles in shared memory for ldmatrix, filled by asynchronous copies. A row is a multiple of 128 bytes; its 16-byte
// chunk c lies at chunk c ^ (row % 8), so that eight rows of one column of chunks touch all 32 banks.
#pragma once

#include <stdint.h>

#include "ops/cuda/mma.h"

enum { SWIZZLED_CHUNK = 16 }; // bytes: one asynchronous copy, one row of an ldmatrix matrix

// Where a chunk lies in a tile, in bytes.
template <int RowBytes> static __device__ inline int swizzled_at(int row, int chunk)
{
    return row * RowBytes + (chunk ^ row % 8) * SWIZZLED_CHUNK;
}

// Loads the tile (Rows, Columns) of matrix (rows, columns) whose first element is (row, column), element by element;
// zeros beyond the matrix. Called by all Threads of the block.
template <typename Bits, int Rows, int Columns, int Threads>
static __device__ inline void swizzled_load_ragged(unsigned char *tile, const Bits *matrix, int rows, int columns,
                                                   int row, int column)
{
    const int elements = SWIZZLED_CHUNK / sizeof(Bits);
#pragma unroll 1
    for (int i = threadIdx.x; i < Rows * Columns; i += Threads) {
        const int at_row = row + i / Columns, at_column = column + i % Columns;
        unsigned char *chunk = tile + swizzled_at<Columns *(int)sizeof(Bits)>(i / Columns, i % Columns / elements);
        ((Bits *)chunk)[i % elements] =
            at_row < rows && at_column < columns ? matrix[(size_t)at_row * columns + at_column] : (Bits)0;
    }
}

// Starts to copy such a tile by chunks, if `vectors`: all rows of the matrix start at multiples of 16 bytes. Then a
// row's length is a multiple of a chunk, and a chunk lies inside or outside as a whole.
template <typename Bits, int Rows, int Columns, int Threads>
static __device__ inline void swizzled_load(unsigned char *tile, const Bits *matrix, int rows, int columns, int row,
                                            int column, bool vectors)
{
    const int elements = SWIZZLED_CHUNK / sizeof(Bits), chunks = Columns / elements;
    if (!vectors) {
        swizzled_load_ragged<Bits, Rows, Columns, Threads>(tile, matrix, rows, columns, row, column);
        return;
    }
#pragma unroll
    for (int i = 0; i < Rows * chunks; i += Threads) {
        const int in_row = (i + (int)threadIdx.x) / chunks, chunk = (i + (int)threadIdx.x) % chunks;
        const int at_row = row + in_row, at_column = column + chunk * elements;
        unsigned char *place = tile + swizzled_at<Columns *(int)sizeof(Bits)>(in_row, chunk);
        if (at_row < rows && at_column < columns)
            cp_async_16(place, &matrix[(size_t)at_row * columns + at_column]);
        else
            *(uint4 *)place = make_uint4(0, 0, 0, 0);
    }
}

// Whether all rows of a matrix start at multiples of 16 bytes.
static inline bool swizzled_vectors(const void *matrix, size_t row_bytes)
{
    return ((uintptr_t)matrix | row_bytes) % SWIZZLED_CHUNK == 0;
}
