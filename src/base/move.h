// Where a pixel of a moved image comes from: the one formula that the loader and the rungs of gather share, so that
// every device gives the same pixels. ops.h says what a move is.
#pragma once

#include <stdint.h>

#include "heddle/ops.h"

#ifdef __CUDACC__
#define HEDDLE_MOVE_FUNCTION static inline __host__ __device__
#else
#define HEDDLE_MOVE_FUNCTION static inline
#endif

HEDDLE_MOVE_FUNCTION int heddle_move_clamp(int place, int size)
{
    return place < 0 ? 0 : place >= size ? size - 1 : place;
}

// The pixel of the plane that is shown at (y, x), y * w + x of it, or -1: black.
HEDDLE_MOVE_FUNCTION int heddle_move_source(const int8_t *move, int h, int w, int y, int x)
{
    int down = heddle_move_clamp(y - move[HEDDLE_MOVE_SHIFT_DOWN], h);
    int right = heddle_move_clamp(x - move[HEDDLE_MOVE_SHIFT_RIGHT], w);
    if (move[HEDDLE_MOVE_FLIP])
        right = w - 1 - right;
    down += move[HEDDLE_MOVE_CROP_DOWN];
    right += move[HEDDLE_MOVE_CROP_RIGHT];
    return down >= 0 && down < h && right >= 0 && right < w ? down * w + right : -1;
}
