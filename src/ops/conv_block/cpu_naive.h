// What the naive CPU rungs of conv_block and stem_block share: where elements lie, statistics, pooling.
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

// Stores the statistics of channel k, and updates the running ones.
void heddle_conv_block_keep_statistics(const block_shape *shape, const heddle_conv_block_forward_operands *operands,
                                       int k, double mean, double variance);

// code: NULL if it is not needed.
float heddle_conv_block_relu_of_maximum(const float window[4], uint8_t *code);
