// rows_weights, rows_collect, rows_update: their operators.
#pragma once

#include "heddle/ops.h"

#ifdef __CUDACC__
#define HEDDLE_BOTH __host__ __device__ // for kernels, too
#else
#define HEDDLE_BOTH
#endif

extern const heddle_op heddle_op_rows_weights, heddle_op_rows_collect, heddle_op_rows_update;

enum {
    HEDDLE_ROWS_MOST_SEGMENTS = 256,
    HEDDLE_SEGMENT_TILE = 32,   // channels and taps of a tile of one row
    HEDDLE_SEGMENT_FLAT = 1024, // elements of a tile with one tap, which needs no transposing
    HEDDLE_SEGMENT_MANY = 12,   // parts that are too many for one thread
};

// Elements of a tile of a segment with one tap.
HEDDLE_BOTH static inline int heddle_segment_flat(int parts)
{
    return parts < HEDDLE_SEGMENT_MANY ? HEDDLE_SEGMENT_FLAT : HEDDLE_SEGMENT_TILE;
}

// Tiles per segment.
static inline int heddle_segment_tiles(int padded_k, int taps, int padded_c, int parts)
{
    const int tile = HEDDLE_SEGMENT_TILE, flat = heddle_segment_flat(parts);
    return taps == 1 ? (int)(((long long)padded_k * padded_c + flat - 1) / flat)
                     : padded_k * ((taps + tile - 1) / tile) * ((padded_c + tile - 1) / tile);
}

// The optimiser of a call that wants this one: if there is no room for moments, one that has none.
static inline int heddle_rows_optimizer(int wanted, const void *first_moment, const void *second_moment)
{
    const int possible = !first_moment ? 0 : !second_moment ? 1 : 2;
    return wanted < possible ? wanted : possible;
}
