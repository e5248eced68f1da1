// Where the elements of a block's operands lie: for the references and the naive rungs of conv_block and stem_block.
#pragma once

#include "ops/conv_block/conv_block.h"

typedef heddle_conv_block_shape block_shape;

static inline size_t input_at(const block_shape *shape, int n, int c, int y, int x)
{
    return heddle_activation_at(shape->input_channels_last, shape->c, shape->h, shape->w, n, c, y, x);
}

static inline size_t output_at(const block_shape *shape, int n, int k, int y, int x)
{
    return heddle_activation_at(shape->output_channels_last, shape->k, shape->h / 2, shape->w / 2, n, k, y, x);
}

static inline size_t convolution_at(const block_shape *shape, int n, int k, int y, int x)
{
    return heddle_activation_at(1, shape->k, shape->h, shape->w, n, k, y, x);
}

static inline size_t code_at(const block_shape *shape, int n, int k, int y, int x)
{
    return heddle_activation_at(1, shape->k, shape->h / 2, shape->w / 2, n, k, y, x);
}

static inline size_t weight_at(const block_shape *shape, int k, int c, int r, int s)
{
    return (((size_t)k * shape->c + c) * 3 + r) * 3 + s;
}
