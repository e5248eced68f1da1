// What max and average pooling share: the shape's fields, dims, checks, and the place of a window.
#pragma once

#include "heddle/ops.h"

extern const heddle_field heddle_pool2d_fields[];
enum { HEDDLE_POOL2D_FIELDS = 7 };

int heddle_pool2d_dims_input(const void *shape, int dims[HEDDLE_MAX_DIMS]);
int heddle_pool2d_dims_output(const void *shape, int dims[HEDDLE_MAX_DIMS]);
heddle_status heddle_pool2d_validate(const void *shape);

extern const char *const heddle_pool2d_test_shapes[];
extern const char *const heddle_pool2d_bench_shapes[];

// The part of an operator's table that is the same for all of them.
#define HEDDLE_POOL2D_OP                                                                                               \
    .shape_size = sizeof(heddle_pool2d_shape), .fields = heddle_pool2d_fields, .field_count = HEDDLE_POOL2D_FIELDS,    \
    .validate = heddle_pool2d_validate, .test_shapes = heddle_pool2d_test_shapes,                                      \
    .bench_shapes = heddle_pool2d_bench_shapes

// Elements of the input and of the output, and how many elements a window has.
double heddle_pool2d_inputs(const heddle_pool2d_shape *shape);
double heddle_pool2d_outputs(const heddle_pool2d_shape *shape);
int64_t heddle_pool2d_reduction(const void *shape);

// Rows or columns of the output, for `in` of the input.
static inline int heddle_pool2d_extent(const heddle_pool2d_shape *shape, int in)
{
    long long room = (long long)in + 2LL * shape->padding - shape->window;
    return room < 0 || shape->stride < 1 ? 0 : (int)(room / shape->stride + 1);
}

// Adjacent windows of 2 by 2 that cover all of an even input, few enough for a 31-bit index: what the vectorised CUDA
// rungs accept.
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

static inline int heddle_window_size(heddle_window window)
{
    return (window.h_end - window.h_begin) * (window.w_end - window.w_begin);
}

// --- planes over the threads (CPU) ----------------------------------------------------------------------------------

static inline bool heddle_pool2d_is_two_by_two(const heddle_pool2d_shape *shape)
{
    return shape->window == 2 && shape->stride == 2 && shape->padding == 0;
}

// Clears what adjacent 2×2 windows leave out of an odd plane: its last column, its last row.
void heddle_pool2d_clear_rest(const heddle_pool2d_shape *shape, float *plane);

// Runs `task` (pieces.h) on all planes of the call, which is its context, on all threads of the pool.
heddle_status heddle_pool2d_for_planes(const heddle_call *call,
                                       void (*task)(void *context, size_t begin, size_t end, int piece, int worker));
