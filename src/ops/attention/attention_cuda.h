// What the CUDA rungs of attention in float32 share: tiles of rows in shared memory.
#pragma once

#include "device/cuda/cuda.h"
#include "ops/attention/attention.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

// Whether the rows of a matrix of `size` columns start at multiples of 16 bytes.
static inline bool attention_vectors(const void *matrix, int size)
{
    return heddle_aligned16(matrix) && size % HEDDLE_VECTOR == 0;
}

// Copies rows first to first + Rows of matrix (rows, size) to a tile in shared memory, rows of which are Stride floats
// apart. Beyond the matrix, and from `size` to Size, the tile is zero: nothing is added to a product. `vectors`: by 16
// bytes.
template <int Rows, int Size, int Stride, int Threads>
__device__ static inline void attention_load(float *tile, const float *matrix, int rows, int size, int first,
                                             bool vectors)
{
    const int vectors_of_row = Size / HEDDLE_VECTOR;
    for (int i = threadIdx.x; i < Rows * vectors_of_row; i += Threads) {
        const int row = i / vectors_of_row, column = i % vectors_of_row * HEDDLE_VECTOR;
        const float *from = matrix + (size_t)(first + row) * size + column;
        float4 value = make_float4(0, 0, 0, 0);
        if (first + row < rows && vectors && column < size)
            value = *(const float4 *)from;
        if (first + row < rows && !vectors) {
            value.x = column < size ? from[0] : 0;
            value.y = column + 1 < size ? from[1] : 0;
            value.z = column + 2 < size ? from[2] : 0;
            value.w = column + 3 < size ? from[3] : 0;
        }
        *(float4 *)(tile + row * Stride + column) = value;
    }
}

// How many keys the queries up to `last` see: the tiles of keys behind them are left out.
__device__ static inline int attention_seen(const heddle_attention_shape &shape, int last)
{
    return shape.causal ? min(shape.keys, last + 1) : shape.keys;
}

// Whether a query sees a key. Queries beyond the last see what they like: their results are not stored.
__device__ static inline bool attention_sees(const heddle_attention_shape &shape, int query, int key)
{
    return key < shape.keys && (!shape.causal || key <= query);
}

// Calls function<Size>(call) with the least Size that holds a head: tiles and registers need it when they are compiled.
#define ATTENTION_WITH_SIZE(function, call)                                                                            \
    (((const heddle_attention_shape *)(call)->shape)->size <= 64 ? function<64>(call) : function<128>(call))
