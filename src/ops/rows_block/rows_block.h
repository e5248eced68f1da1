// rows_block: its operator, and the geometry that its rungs share.
#pragma once

#include "heddle/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const heddle_op heddle_op_rows_block;

enum {
    HEDDLE_ROWS_BLOCK_STEP = 16,              // channels of one step of the tensor cores
    HEDDLE_ROWS_BLOCK_CHANNELS = 64,          // output channels of a block
    HEDDLE_ROWS_BLOCK_PADDING = 8,            // elements behind each row in shared memory, against bank conflicts
    HEDDLE_ROWS_BLOCK_SHARED_BYTES = 96 << 10 // at most: what every GPU from Ampere on has
};

static inline int heddle_rows_block_conv_h(const heddle_rows_block_shape *shape)
{
    return shape->h + 2 * shape->padding - shape->r + 1;
}

static inline int heddle_rows_block_conv_w(const heddle_rows_block_shape *shape)
{
    return shape->w + 2 * shape->padding - shape->s + 1;
}

// Rows of the input's and of the output's frame.
static inline int heddle_rows_block_in_rows(const heddle_rows_block_shape *shape)
{
    return shape->n * (shape->h + shape->gap) * (shape->w + shape->gap);
}

static inline int heddle_rows_block_out_rows(const heddle_rows_block_shape *shape)
{
    const int h = heddle_rows_block_conv_h(shape) / shape->window, w = heddle_rows_block_conv_w(shape) / shape->window;
    return shape->n * (h + shape->out_gap) * (w + shape->out_gap);
}

// Elements of a row in shared memory: of the image, and of the weight.
static inline int heddle_rows_block_width(const heddle_rows_block_shape *shape)
{
    return (shape->c + HEDDLE_ROWS_BLOCK_STEP - 1) / HEDDLE_ROWS_BLOCK_STEP * HEDDLE_ROWS_BLOCK_STEP;
}

static inline int heddle_rows_block_weight_width(const heddle_rows_block_shape *shape)
{
    return shape->r * shape->s * heddle_rows_block_width(shape) + HEDDLE_ROWS_BLOCK_PADDING;
}

// Rows of an image in shared memory: all that its filters touch, zeros above, left and below included.
static inline int heddle_rows_block_image_rows(const heddle_rows_block_shape *shape)
{
    return (shape->h + 2 * shape->padding) * (shape->w + 2 * shape->padding);
}

// Bytes of shared memory with `images` of them.
static inline double heddle_rows_block_bytes(const heddle_rows_block_shape *shape, int images)
{
    const double row = heddle_rows_block_width(shape) + HEDDLE_ROWS_BLOCK_PADDING;
    return sizeof(uint16_t) * ((double)images * heddle_rows_block_image_rows(shape) * row +
                               (double)HEDDLE_ROWS_BLOCK_CHANNELS * heddle_rows_block_weight_width(shape));
}

// Whether there is a rung for it: weights of 64 channels and an image in the shared memory of a block.
static inline int heddle_rows_block_fits(const heddle_rows_block_shape *shape)
{
    return heddle_rows_block_bytes(shape, 1) <= HEDDLE_ROWS_BLOCK_SHARED_BYTES;
}

#ifdef __cplusplus
}
#endif
