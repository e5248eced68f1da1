// rows_norm: its operators, and the geometry that its rungs share.
#pragma once

#include "heddle/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const heddle_op heddle_op_rows_norm_forward, heddle_op_rows_norm_backward;

enum {
    HEDDLE_ROWS_NORM_BLOCKS = 1024, // that share the sums of a call, at most
    HEDDLE_ROWS_NORM_SLICE = 64,    // channels of a block, at most
};

static inline int heddle_rows_norm_out_h(const heddle_rows_norm_shape *shape)
{
    return shape->h / shape->window;
}

static inline int heddle_rows_norm_out_w(const heddle_rows_norm_shape *shape)
{
    return shape->w / shape->window;
}

static inline int heddle_rows_norm_in_rows(const heddle_rows_norm_shape *shape)
{
    return shape->n * shape->image_rows;
}

static inline int heddle_rows_norm_out_rows(const heddle_rows_norm_shape *shape)
{
    return shape->n * (heddle_rows_norm_out_h(shape) + shape->gap) * (heddle_rows_norm_out_w(shape) + shape->gap);
}

#ifdef __cplusplus
}
#endif
