// rows_gather: its operator.
#pragma once

#include "ops/rows_patches/rows_patches.h"

extern const heddle_op heddle_op_rows_gather;

static inline int heddle_rows_gather_out_h(const heddle_rows_gather_shape *shape)
{
    return heddle_patches_along(shape->h, shape->r, shape->stride, shape->padding, shape->dilation);
}

static inline int heddle_rows_gather_out_w(const heddle_rows_gather_shape *shape)
{
    return heddle_patches_along(shape->w, shape->s, shape->stride, shape->padding, shape->dilation);
}
