// What max and average pooling share: the shape's fields, dims, checks, and where a window lies.
#ifndef HEDDLE_OPS_POOL2D_H
#define HEDDLE_OPS_POOL2D_H

#include "heddle/ops.h"

extern const heddle_field heddle_pool2d_fields[];
enum { HEDDLE_POOL2D_FIELDS = 7 };

int heddle_pool2d_dims_input(const void *shape, int dims[HEDDLE_MAX_DIMS]);
int heddle_pool2d_dims_output(const void *shape, int dims[HEDDLE_MAX_DIMS]);
heddle_status heddle_pool2d_validate(const void *shape);

extern const char *const heddle_pool2d_test_shapes[];
extern const char *const heddle_pool2d_bench_shapes[];

// Rows or columns of the output, for `in` of the input.
static inline int heddle_pool2d_extent(const heddle_pool2d_shape *shape, int in)
{
    long long room = (long long)in + 2LL * shape->padding - shape->window;
    return room < 0 || shape->stride < 1 ? 0 : (int)(room / shape->stride + 1);
}

// Windows of 2 by 2 side by side that cover all of an even input, few enough for an index of 31 bits: what the
// vectorised CUDA rungs take.
bool heddle_pool2d_is_pairs(const void *shape);

// The part of output position (y, x)'s window that is inside the input; never empty in a valid shape.
typedef struct heddle_window {
    int h_begin, h_end, w_begin, w_end;
} heddle_window;

static inline heddle_window heddle_pool2d_window(const heddle_pool2d_shape *shape, int y, int x)
{
    int h = y * shape->stride - shape->padding, w = x * shape->stride - shape->padding;
    heddle_window window;
    window.h_begin = h > 0 ? h : 0;
    window.h_end = h + shape->window < shape->h ? h + shape->window : shape->h;
    window.w_begin = w > 0 ? w : 0;
    window.w_end = w + shape->window < shape->w ? w + shape->window : shape->w;
    return window;
}

#endif
