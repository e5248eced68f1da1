// Where a packed weight of 4 bits lies, for C and CUDA: the layout that heddle/ops.h documents, in functions. Its chunk
// of 32 weights is what one load of a thread brings, and its halves of a word are where two fp16 numbers lie: one
// instruction makes them of two weights (chunk.h).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "heddle/ops.h"

#ifdef __CUDACC__
#define HEDDLE_INT4 __host__ __device__ static inline
#else
#define HEDDLE_INT4 static inline
#endif

enum {
    HEDDLE_INT4_CHUNK = 32,       // weights
    HEDDLE_INT4_CHUNK_BYTES = 16, // that they take
    HEDDLE_INT4_WORDS = 4,        // in a chunk
    HEDDLE_INT4_WORD = 8,         // weights in a word
};

HEDDLE_INT4 int heddle_int4_chunks(int k)
{
    return k / HEDDLE_INT4_CHUNK + (k % HEDDLE_INT4_CHUNK > 0);
}

HEDDLE_INT4 int heddle_int4_row_bytes(int k)
{
    return heddle_int4_chunks(k) * HEDDLE_INT4_CHUNK_BYTES;
}

// Scales and zero points of a row; the last group may be short.
HEDDLE_INT4 int heddle_int4_groups(const heddle_matmul_int4_shape *shape)
{
    return shape->k / shape->group + (shape->k % shape->group > 0);
}

// The lowest of the four bits of weight p, counted from its row's first.
HEDDLE_INT4 size_t heddle_int4_bit(int p)
{
    return (size_t)(p / HEDDLE_INT4_WORD) * 32 + (size_t)(p % 2 * 16 + p % HEDDLE_INT4_WORD / 2 * 4);
}

HEDDLE_INT4 int heddle_int4_weight(const unsigned char *row, int p)
{
    const size_t bit = heddle_int4_bit(p);
    return row[bit / 8] >> bit % 8 & 15;
}

#undef HEDDLE_INT4
