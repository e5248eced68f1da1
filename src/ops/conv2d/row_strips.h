// Which shapes rung 05_row_strips accepts: shared by its kernel and the operators' tables.
#pragma once

#include <limits.h>

#include "ops/conv2d/view.h"

enum {
    CONV2D_LONG_STRIP = 14,
    CONV2D_SHORT_STRIP = 8,
    CONV2D_STRIPS = 16, // per block, at most: as many images at most
};

// The strip that leaves fewer of its pixels beyond the end of a row; the longer one in a tie.
static inline int conv2d_strip_pixels(int width)
{
    int with_long = (width + CONV2D_LONG_STRIP - 1) / CONV2D_LONG_STRIP * CONV2D_LONG_STRIP;
    int with_short = (width + CONV2D_SHORT_STRIP - 1) / CONV2D_SHORT_STRIP * CONV2D_SHORT_STRIP;
    return with_long <= with_short ? CONV2D_LONG_STRIP : CONV2D_SHORT_STRIP;
}

// 3x3, stride 1 along both axes, at least three quarters of the strips' pixels in use, and the range of a block's
// strips small enough for a 32-bit index.
static inline bool conv2d_row_strips_take(const conv2d_view *view)
{
    if (view->rows != 3 || view->columns != 3 || view->position_step != 1 || view->divisor != 1 ||
        (view->tap_step != 1 && view->tap_step != -1))
        return false;
    if ((double)view->channels * view->height * view->width * CONV2D_STRIPS > INT_MAX)
        return false;
    int pixels = conv2d_strip_pixels(view->out_width);
    long long covered = ((long long)view->out_width + pixels - 1) / pixels * pixels;
    return 4LL * view->out_width >= 3 * covered;
}
