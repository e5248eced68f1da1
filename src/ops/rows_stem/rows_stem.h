// rows_stem: its operator, and the geometry that its rungs share.
#pragma once

#include "ops/rows_patches/rows_patches.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const heddle_op heddle_op_rows_stem;

enum {
    HEDDLE_ROWS_STEM_STEP = 16,           // columns of one step of the tensor cores
    HEDDLE_ROWS_STEM_STEPS = 5,           // at most
    HEDDLE_ROWS_STEM_CHANNELS = 256,      // at most
    HEDDLE_ROWS_STEM_ELEMENTS = 20 << 10, // of an image with its padding, at most
};

// Lines and pixels of a line that the convolution gives.
static inline int heddle_rows_stem_conv_h(const heddle_rows_stem_shape *shape)
{
    return heddle_patches_along(shape->h, shape->r, shape->stride, shape->padding, shape->dilation);
}

static inline int heddle_rows_stem_conv_w(const heddle_rows_stem_shape *shape)
{
    return heddle_patches_along(shape->w, shape->s, shape->stride, shape->padding, shape->dilation);
}

// Rows of the output's frame.
static inline int heddle_rows_stem_rows(const heddle_rows_stem_shape *shape)
{
    const int h = heddle_rows_stem_conv_h(shape) / shape->window, w = heddle_rows_stem_conv_w(shape) / shape->window;
    return shape->n * (h + shape->gap) * (w + shape->gap);
}

// Whether there is a rung for it: filters, images and channels that are not too large.
static inline int heddle_rows_stem_fits(const heddle_rows_stem_shape *shape)
{
    const double padded = (double)shape->c * (shape->h + 2 * shape->padding) * (shape->w + 2 * shape->padding);
    return shape->columns <= HEDDLE_ROWS_STEM_STEPS * HEDDLE_ROWS_STEM_STEP && shape->k <= HEDDLE_ROWS_STEM_CHANNELS &&
           padded <= HEDDLE_ROWS_STEM_ELEMENTS;
}

#ifdef __cplusplus
}
#endif
