// Which shapes rung 08_mma_image accepts, and its weight in the order of the tensor cores' fragments: shared by its
// kernel and the operators' tables.
#pragma once

#include "ops/conv2d/view.h"

enum {
    CONV2D_MMA_ROWS = 14,    // rows of an image per block: 7 for each of two rows of warps
    CONV2D_MMA_PIXELS = 16,  // of a row: the side of a product
    CONV2D_MMA_FILTERS = 64, // per block
    CONV2D_MMA_CHANNELS = 8, // per step: the depth of a product
};

static inline int conv2d_round_up(int value, int unit)
{
    return (value + unit - 1) / unit * unit;
}

// Pixels of a row per block: 14 of 16 if that divides evenly.
static inline int conv2d_mma_strip(int width)
{
    return width % 14 == 0 ? 14 : CONV2D_MMA_PIXELS;
}

static inline size_t conv2d_fragments_bytes(const conv2d_view *view)
{
    size_t channels = conv2d_round_up(view->channels, CONV2D_MMA_CHANNELS);
    return sizeof(float) * channels * conv2d_taps(view) * conv2d_round_up(view->filters, CONV2D_MMA_FILTERS);
}

// 3x3, stride 1 along both axes, and at least three quarters of the products' pixels in use.
static inline bool conv2d_mma_image_takes(const conv2d_view *view)
{
    if (view->rows != 3 || view->columns != 3 || view->position_step != 1 || view->divisor != 1 ||
        (view->tap_step != 1 && view->tap_step != -1))
        return false;
    int strip = conv2d_mma_strip(view->out_width);
    double across = conv2d_round_up(view->out_width, strip) / strip * (double)CONV2D_MMA_PIXELS;
    double down = conv2d_round_up(view->out_height, CONV2D_MMA_ROWS);
    return (double)view->out_width * view->out_height >= 0.75 * across * down;
}
