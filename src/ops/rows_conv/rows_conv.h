// rows_conv: its operators, and the geometry that its rungs share.
#pragma once

#include "heddle/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const heddle_op heddle_op_rows_conv_forward, heddle_op_rows_conv_logits, heddle_op_rows_conv_backward_data,
    heddle_op_rows_conv_backward_weight;

heddle_status heddle_rows_conv_forward_cpu_int8(const heddle_call *call);

// 01_naive.cu: the fallback of later rungs for operands that they do not accept.
heddle_status heddle_rows_conv_forward_naive(const heddle_call *call);
heddle_status heddle_rows_conv_logits_naive(const heddle_call *call);
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

#ifdef __cplusplus
}
#endif
