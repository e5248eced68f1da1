// Which shapes rung 02_tiled accepts: shared by its kernels and the operators' tables.
#pragma once

#include "ops/conv2d/view.h"

enum {
    CONV2D_TILE = 16,           // pixels per block: 16 by 16
    CONV2D_TILE_FILTERS = 8,    // per block, forward
    CONV2D_TILE_GRADIENTS = 4,  // per block, for the gradient of the weight
    CONV2D_TILE_FLOATS = 12288, // 48 KiB of shared memory
};

// Rows or columns of the source that the windows of a tile see.
static inline int conv2d_patch(const conv2d_view *view, int filter)
{
    int step = view->tap_step < 0 ? -view->tap_step : view->tap_step;
    long long seen =
        ((long long)(CONV2D_TILE - 1) * view->position_step + (long long)(filter - 1) * step) / view->divisor;
    return seen < CONV2D_TILE_FLOATS ? (int)seen + 2 : CONV2D_TILE_FLOATS + 1;
}

static inline long long conv2d_patch_floats(const conv2d_view *view)
{
    return (long long)conv2d_patch(view, view->rows) * conv2d_patch(view, view->columns);
}

// Patch and weights fit in shared memory.
static inline bool conv2d_tiled_takes(const conv2d_view *view)
{
    return conv2d_patch_floats(view) + (long long)CONV2D_TILE_FILTERS * conv2d_taps(view) <= CONV2D_TILE_FLOATS;
}

// Patch and tiles fit, and there is a thread for every tap of every filter, and for the filters' biases.
static inline bool conv2d_tiled_gradient_takes(const conv2d_view *view)
{
    const int pixels = CONV2D_TILE * CONV2D_TILE;
    return conv2d_taps(view) < pixels / CONV2D_TILE_GRADIENTS &&
           conv2d_patch_floats(view) + CONV2D_TILE_GRADIENTS * pixels <= CONV2D_TILE_FLOATS;
}
