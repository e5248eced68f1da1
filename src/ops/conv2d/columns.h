// The matrix of windows that rung 03_im2col_matmul writes, and how it is cut: shared by the kernels and the operators'
// tables.
#pragma once

#include "ops/conv2d/split.h"

enum {
    CONV2D_COLUMNS_FLOATS = 8 << 20, // of the matrix at a time: 32 MiB, which the L2 of a large GPU still holds
    CONV2D_COLUMNS_TILE = 64,        // of the product, along each axis
    CONV2D_COLUMNS_RESIDENT = 4,     // blocks of the product per SM
};

// Rows of the matrix: (channel, tap).
static inline long long conv2d_column_rows(const conv2d_view *view)
{
    return (long long)view->channels * conv2d_taps(view);
}

// Images whose windows are written at a time, with `rows` rows of the matrix.
static inline int conv2d_column_images(const conv2d_view *view, long long rows)
{
    long long image = rows * view->out_height * view->out_width;
    long long images = CONV2D_COLUMNS_FLOATS / (image > 0 ? image : 1);
    images = images < view->images ? images : view->images;
    return images > 1 ? (int)images : 1;
}

static inline size_t conv2d_column_floats(const conv2d_view *view, long long rows)
{
    return (size_t)rows * conv2d_column_images(view, rows) * view->out_height * view->out_width;
}

// The gradient of the weight: one more row, of ones, whose product is the gradient of the bias; and the number of parts
// that the sum over the pixels of a matrix is split into.
static inline int conv2d_column_parts(const conv2d_view *view)
{
    long long rows = conv2d_column_rows(view) + 1, tile = CONV2D_COLUMNS_TILE;
    long long tiles = (rows + tile - 1) / tile * ((view->filters + tile - 1) / tile);
    long long pixels = (long long)conv2d_column_images(view, rows) * view->out_height * view->out_width;
    return conv2d_parts(tiles, CONV2D_COLUMNS_RESIDENT, pixels / CONV2D_SPLIT_DEPTH);
}

static inline int conv2d_column_steps(const conv2d_view *view)
{
    int images = conv2d_column_images(view, conv2d_column_rows(view) + 1);
    int steps = (view->images + images - 1) / images;
    return steps > 1 ? steps : 1;
}
