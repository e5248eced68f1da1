// rows_conv: its operators, and the geometry that its rungs share.
#pragma once

#include "heddle/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const heddle_op heddle_op_rows_conv_forward, heddle_op_rows_conv_logits, heddle_op_rows_conv_backward_data,
    heddle_op_rows_conv_backward_weight, heddle_op_rows_conv_pool;

// What all of them ask of a shape.
heddle_status heddle_rows_conv_validate(const void *shape);
// The reference's sum of products: output row `row` of channel `to`.
double heddle_rows_conv_sum(const heddle_rows_conv_shape *shape, const double *rows, const double *weight, int row,
                            int to);
heddle_status heddle_rows_conv_forward_cpu_int8(const heddle_call *call);

// 01_naive.cu: the fallback of later rungs for operands that they do not accept.
heddle_status heddle_rows_conv_forward_naive(const heddle_call *call);
heddle_status heddle_rows_conv_logits_naive(const heddle_call *call);
heddle_status heddle_rows_conv_pool_naive(const heddle_call *call);
heddle_status heddle_rows_conv_data_naive(const heddle_call *call);
heddle_status heddle_rows_conv_weight_naive(const heddle_call *call);

enum {
    HEDDLE_ROWS_ALIGNMENT = 8,        // channels: 16 bytes, the unit of TMA
    HEDDLE_ROWS_BYTE_ALIGNMENT = 16,  // the same of bytes
    HEDDLE_ROWS_MOST_BYTE = 127,      // the largest: what 1 is stored as, as a result of tanh or sigmoid
    HEDDLE_ROWS_MOST_BYTES = 1 << 17, // products of one sum, so that it fits in an int32
    HEDDLE_ROWS_PART = 128,           // rows: parts of backward_weight begin at multiples of this
    HEDDLE_ROWS_MOST_TAPS = 25,       // of a filter
    HEDDLE_ROWS_COUNTED = 64,         // channels that blocks count themselves for together
    HEDDLE_ROWS_MOST_GROUPS = 256,    // blocks that have the same channels
};

static inline int heddle_rows_conv_rows(const heddle_rows_conv_shape *shape)
{
    return shape->n * (shape->h + shape->gap) * (shape->w + shape->gap);
}

// Rows per part of backward_weight; the last may have fewer, or none.
static inline int heddle_rows_conv_part_rows(const heddle_rows_conv_shape *shape)
{
    const int steps = (heddle_rows_conv_rows(shape) + HEDDLE_ROWS_PART - 1) / HEDDLE_ROWS_PART;
    return (steps + shape->parts - 1) / shape->parts * HEDDLE_ROWS_PART;
}

// Lines and columns of each image that hold results.
static inline int heddle_rows_conv_out_h(const heddle_rows_conv_shape *shape)
{
    return shape->h + 2 * shape->padding - shape->r + 1;
}

static inline int heddle_rows_conv_out_w(const heddle_rows_conv_shape *shape)
{
    return shape->w + 2 * shape->padding - shape->s + 1;
}

// The distance in rows from an output row to the input row of tap (r, s).
static inline int heddle_rows_conv_shift(const heddle_rows_conv_shape *shape, int tap)
{
    return (tap / shape->s - shape->padding) * (shape->w + shape->gap) + tap % shape->s - shape->padding;
}

// Whether the row holds a result, rather than a gap.
static inline int heddle_rows_conv_holds(const heddle_rows_conv_shape *shape, int row)
{
    const int pitch = shape->w + shape->gap, in_image = row % ((shape->h + shape->gap) * pitch);
    return in_image / pitch < heddle_rows_conv_out_h(shape) && in_image % pitch < heddle_rows_conv_out_w(shape);
}

// --- rows_conv_pool --------------------------------------------------------------------------------------------------

// Lines and columns of each image that pooling leaves.
static inline int heddle_rows_conv_pool_h(const heddle_rows_conv_shape *shape)
{
    return heddle_rows_conv_out_h(shape) / shape->window;
}

static inline int heddle_rows_conv_pool_w(const heddle_rows_conv_shape *shape)
{
    return heddle_rows_conv_out_w(shape) / shape->window;
}

// Rows of its frame, per image.
static inline int heddle_rows_conv_pool_rows(const heddle_rows_conv_shape *shape)
{
    return (heddle_rows_conv_pool_h(shape) + shape->next_gap) * (heddle_rows_conv_pool_w(shape) + shape->next_gap);
}

// How a frame is cut into tiles that have every window whole: some images, or some lines of one.
typedef struct heddle_rows_tiling {
    int images; // per tile
    int lines;  // of pooled results, of each image
    int parts;  // tiles that share an image; then a tile has one
    int tiles;
} heddle_rows_tiling;

// Rows from the first result of so many pooled lines to the last.
static inline int heddle_rows_conv_pool_reach(const heddle_rows_conv_shape *shape, int lines)
{
    return (lines * shape->window - 1) * (shape->w + shape->gap) + heddle_rows_conv_pool_w(shape) * shape->window;
}

// Tiles of at most so many rows; 0: they hold no line of windows.
static inline int heddle_rows_conv_pool_tile(const heddle_rows_conv_shape *shape, int rows, heddle_rows_tiling *tiling)
{
    const int pitch = shape->w + shape->gap, h = heddle_rows_conv_pool_h(shape);
    const int spare = rows - heddle_rows_conv_pool_reach(shape, h);
    if (spare >= 0) {
        tiling->images = 1 + spare / ((shape->h + shape->gap) * pitch);
        tiling->lines = h;
        tiling->parts = 1;
        tiling->tiles = (shape->n + tiling->images - 1) / tiling->images;
        return 1;
    }
    const int most = (rows - heddle_rows_conv_pool_w(shape) * shape->window + pitch) / (shape->window * pitch);
    if (heddle_rows_conv_pool_reach(shape, 1) > rows)
        return 0;
    tiling->images = 1;
    tiling->parts = (h + most - 1) / most;
    tiling->lines = (h + tiling->parts - 1) / tiling->parts;
    tiling->tiles = shape->n * tiling->parts;
    return 1;
}

#ifdef __cplusplus
}
#endif
