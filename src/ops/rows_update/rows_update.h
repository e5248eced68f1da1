// rows_weights, rows_collect, rows_update: their operators.
#pragma once

#include "heddle/ops.h"

extern const heddle_op heddle_op_rows_weights, heddle_op_rows_collect, heddle_op_rows_update;

enum {
    HEDDLE_ROWS_MOST_SEGMENTS = 256,
    HEDDLE_SEGMENT_TILE = 32,   // channels and taps of a tile of one row
    HEDDLE_SEGMENT_FLAT = 1024, // elements of a tile with one tap, which needs no transposing
};

// Tiles per segment.
static inline int heddle_segment_tiles(int padded_k, int taps, int padded_c)
{
    const int tile = HEDDLE_SEGMENT_TILE, flat = HEDDLE_SEGMENT_FLAT;
    return taps == 1 ? (int)(((long long)padded_k * padded_c + flat - 1) / flat)
                     : padded_k * ((taps + tile - 1) / tile) * ((padded_c + tile - 1) / tile);
}

// The optimiser of a call: if there is no room for moments, one that has none.
static inline int heddle_rows_optimizer(const heddle_rows_update_shape *shape, const void *first_moment,
                                        const void *second_moment)
{
    const int possible = !first_moment ? 0 : !second_moment ? 1 : 2;
    return shape->optimizer < possible ? shape->optimizer : possible;
}
