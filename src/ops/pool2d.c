// Pooling shapes: fields, dims, checks, and the shapes that tests and benchmarks use.

#include "ops/pool2d.h"

#include <limits.h>
#include <string.h>

#include "ops/define.h"
#include "ops/pieces.h"

const heddle_field heddle_pool2d_fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_pool2d_shape, n, "images")},
    {HEDDLE_REQUIRED_INT(heddle_pool2d_shape, c, "channels")},
    {HEDDLE_REQUIRED_INT(heddle_pool2d_shape, h, "rows")},
    {HEDDLE_REQUIRED_INT(heddle_pool2d_shape, w, "columns")},
    {HEDDLE_OPTIONAL_INT(heddle_pool2d_shape, window, 2, "rows and columns of a window")},
    {HEDDLE_OPTIONAL_INT(heddle_pool2d_shape, stride, 2, "stride between windows")},
    {HEDDLE_OPTIONAL_INT(heddle_pool2d_shape, padding, 0, "border, at most half a window; it holds no values")},
};
_Static_assert(HEDDLE_COUNT(heddle_pool2d_fields) == HEDDLE_POOL2D_FIELDS, "the header's count");

int heddle_pool2d_out_h(const heddle_pool2d_shape *shape)
{
    return heddle_pool2d_extent(shape, shape->h);
}

int heddle_pool2d_out_w(const heddle_pool2d_shape *shape)
{
    return heddle_pool2d_extent(shape, shape->w);
}

HEDDLE_SHARED_DIMS(heddle_pool2d_dims_input, heddle_pool2d_shape, shape->n, shape->c, shape->h, shape->w)
HEDDLE_SHARED_DIMS(heddle_pool2d_dims_output, heddle_pool2d_shape, shape->n, shape->c, heddle_pool2d_out_h(shape),
                   heddle_pool2d_out_w(shape))

heddle_status heddle_pool2d_validate(const void *shape_)
{
    const heddle_pool2d_shape *shape = shape_;
    if (shape->window < 1 || shape->stride < 1)
        return heddle_fail(HEDDLE_INVALID, "pooling: window and stride must be at least 1 (window=%d stride=%d)",
                           shape->window, shape->stride);
    if (shape->h < 1 || shape->w < 1)
        return heddle_fail(HEDDLE_INVALID, "pooling: a %dx%d input has nothing to pool", shape->h, shape->w);
    if (shape->padding > shape->window / 2)
        return heddle_fail(HEDDLE_INVALID,
                           "pooling: padding=%d is more than half the window of %d, so a window could be all padding",
                           shape->padding, shape->window);
    if (shape->h + 2LL * shape->padding > INT_MAX || shape->w + 2LL * shape->padding > INT_MAX ||
        (long long)shape->h * shape->w > INT_MAX)
        return heddle_fail(HEDDLE_INVALID, "pooling: a %dx%d plane is too large to index with 32 bits", shape->h,
                           shape->w);
    if (heddle_pool2d_out_h(shape) < 1 || heddle_pool2d_out_w(shape) < 1)
        return heddle_fail(HEDDLE_INVALID, "pooling: a window of %d does not fit into a %dx%d input with padding %d",
                           shape->window, shape->h, shape->w, shape->padding);
    return HEDDLE_OK;
}

double heddle_pool2d_inputs(const heddle_pool2d_shape *shape)
{
    return (double)shape->n * shape->c * shape->h * shape->w;
}

double heddle_pool2d_outputs(const heddle_pool2d_shape *shape)
{
    return (double)shape->n * shape->c * heddle_pool2d_out_h(shape) * heddle_pool2d_out_w(shape);
}

HEDDLE_SHARED_OF_SHAPE(int64_t, heddle_pool2d_reduction, heddle_pool2d_shape, (int64_t)shape->window * shape->window)

void heddle_pool2d_clear_rest(const heddle_pool2d_shape *shape, float *plane)
{
    for (int y = 0; shape->w % 2 && y < shape->h; y++)
        plane[(size_t)(y + 1) * shape->w - 1] = 0.0f;
    if (shape->h % 2)
        memset(plane + (size_t)(shape->h - 1) * shape->w, 0, (size_t)shape->w * sizeof *plane);
}

heddle_status heddle_pool2d_for_planes(const heddle_call *call, heddle_piece_task *task)
{
    const heddle_pool2d_shape *shape = call->shape;
    heddle_pieces_run(call->pool, (size_t)shape->n * shape->c, heddle_piece_rows((size_t)shape->h * shape->w), task,
                      (void *)call);
    return HEDDLE_OK;
}

bool heddle_pool2d_is_pairs(const void *shape_)
{
    const heddle_pool2d_shape *shape = shape_;
    return shape->window == 2 && shape->stride == 2 && shape->padding == 0 && shape->h % 2 == 0 && shape->w % 2 == 0 &&
           (double)shape->n * shape->c * shape->h * shape->w / 4 <= INT_MAX;
}

const char *const heddle_pool2d_test_shapes[] = {
    "n=0 c=3 h=4 w=4",
    "n=1 c=1 h=2 w=2",
    "n=1 c=1 h=1 w=1 window=1 stride=1",
    "n=2 c=3 h=7 w=5",
    "n=1 c=5 h=14 w=22",
    "n=3 c=2 h=8 w=8 window=3 stride=2 padding=1",
    "n=2 c=1 h=11 w=13 window=5 stride=3 padding=2",
    "n=1 c=2 h=6 w=7 window=3 stride=1",
    "n=1 c=2 h=9 w=9 window=2 stride=3",
    "n=1 c=1 h=1 w=3 window=2 stride=2 padding=1",
    "n=2 c=67 h=28 w=28",
    "n=1 c=2 h=66 w=70",
    NULL,
};
// After the CNN's two convolutions at batch 1024 and 64, then a large one and ResNet's.
const char *const heddle_pool2d_bench_shapes[] = {
    "n=1024 c=32 h=28 w=28",
    "n=1024 c=64 h=14 w=14",
    "n=64 c=32 h=28 w=28",
    "n=64 c=64 h=14 w=14",
    "n=64 c=256 h=56 w=56",
    "n=32 c=64 h=112 w=112 window=3 stride=2 padding=1",
    NULL,
};
