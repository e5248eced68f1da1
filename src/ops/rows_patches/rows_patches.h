// rows_patches, and rows_gather beside it: their operators, and where patches come from.
#pragma once

#include "heddle/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const heddle_op heddle_op_rows_patches_forward, heddle_op_rows_patches_backward;

// Places of a filter along one side of an image.
static inline int heddle_patches_along(int size, int filter, int stride, int padding, int dilation)
{
    return (size + 2 * padding - dilation * (filter - 1) - 1) / stride + 1;
}

static inline int heddle_rows_patches_out_h(const heddle_rows_patches_shape *shape)
{
    return heddle_patches_along(shape->h, shape->r, shape->stride, shape->padding, shape->dilation);
}

static inline int heddle_rows_patches_out_w(const heddle_rows_patches_shape *shape)
{
    return heddle_patches_along(shape->w, shape->s, shape->stride, shape->padding, shape->dilation);
}

#ifdef __cplusplus
}
#endif
