// How the fused CUDA rungs of conv_block cut their work, and the layout of their workspace: shared by the kernels and
// the operators' tables. Sizes and places are in floats.
#pragma once

#include <string.h>

#include "ops/conv_block/conv_block.h"

enum {
    CONV_BLOCK_DEPTH = 8,        // channels per step of the convolution: two vectors of 4
    CONV_BLOCK_FEW_FILTERS = 32, // a block's tile is 256 pixels by 32 filters, or 128 by 64
    CONV_BLOCK_FILTERS = 64,
    CONV_BLOCK_FEW_FILTERS_PIXELS = 256,
    CONV_BLOCK_PIXELS = 128,

    CONV_BLOCK_GRADIENT_FILTERS = 64, // the weight's gradient: filters and columns (tap, channel) per block
    CONV_BLOCK_GRADIENT_COLUMNS = 96,
    CONV_BLOCK_GRADIENT_RESIDENT = 4, // blocks per SM
    CONV_BLOCK_GRADIENT_LEAST = 256,  // pixels per part: below, adding the parts costs more than it gains
    CONV_BLOCK_MULTIPROCESSORS = 132, // of the GPUs that the number of parts is chosen for
    CONV_BLOCK_WINDOWS = 32,          // pooling windows per tile, 32 channels deep
    CONV_BLOCK_SUM_TILES = 4,         // tiles whose sums a block adds before it stores them
    CONV_BLOCK_PART_ALIGNMENT = 64,   // 256 bytes
};

static inline int conv_block_round_up(int value, int multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

// Channels as the convolution needs its source: whole steps, zeros beyond the last.
static inline int conv_block_padded(int channels)
{
    return conv_block_round_up(channels, CONV_BLOCK_DEPTH);
}

// Whether the input is copied to that form first. Between two blocks of a network it already has it.
static inline bool conv_block_copies_input(const heddle_conv_block_shape *shape)
{
    return !shape->input_channels_last || shape->c % CONV_BLOCK_DEPTH != 0;
}

// Filters per block: 64, unless that leaves half of the last block empty.
static inline int conv_block_tile_filters(int filters)
{
    return (filters - 1) % CONV_BLOCK_FILTERS < CONV_BLOCK_FEW_FILTERS ? CONV_BLOCK_FEW_FILTERS : CONV_BLOCK_FILTERS;
}

static inline int conv_block_tile_pixels(int filters)
{
    return conv_block_tile_filters(filters) == CONV_BLOCK_FILTERS ? CONV_BLOCK_PIXELS : CONV_BLOCK_FEW_FILTERS_PIXELS;
}

// Columns of the packed weight: whole tiles.
static inline int conv_block_packed_columns(int filters)
{
    return conv_block_round_up(filters, conv_block_tile_filters(filters));
}

static inline size_t conv_block_packed_size(int channels, int filters)
{
    return (size_t)HEDDLE_CONV_BLOCK_TAPS * conv_block_padded(channels) * conv_block_packed_columns(filters);
}

static inline size_t conv_block_all_pixels(const heddle_conv_block_shape *shape)
{
    return (size_t)shape->n * shape->h * shape->w;
}

static inline size_t conv_block_ceil_div(size_t value, size_t divisor)
{
    return (value + divisor - 1) / divisor;
}

// Windows of an image, including those over an odd edge, which pooling ignores.
static inline size_t conv_block_covering_windows(const heddle_conv_block_shape *shape)
{
    return (size_t)((shape->h + 1) / 2) * ((shape->w + 1) / 2);
}

// Blocks of forward's convolution along the pixels; each stores its statistics.
static inline size_t conv_block_statistics_parts(const heddle_conv_block_shape *shape)
{
    return conv_block_ceil_div(conv_block_all_pixels(shape), conv_block_tile_pixels(shape->k));
}

// Blocks along the windows that store sums of the gradient.
static inline size_t conv_block_sum_parts(const heddle_conv_block_shape *shape)
{
    size_t windows = (size_t)shape->n * (shape->h / 2) * (shape->w / 2);
    return conv_block_ceil_div(windows, CONV_BLOCK_WINDOWS * CONV_BLOCK_SUM_TILES);
}

static inline int conv_block_gradient_columns(const heddle_conv_block_shape *shape)
{
    return HEDDLE_CONV_BLOCK_TAPS * conv_block_padded(shape->c);
}

// Parts of the sum over all pixels, so that every SM has its blocks.
static inline int conv_block_gradient_parts(const heddle_conv_block_shape *shape)
{
    size_t tiles = conv_block_ceil_div(shape->k, CONV_BLOCK_GRADIENT_FILTERS) *
                   conv_block_ceil_div(conv_block_gradient_columns(shape), CONV_BLOCK_GRADIENT_COLUMNS);
    size_t wanted = (size_t)CONV_BLOCK_MULTIPROCESSORS * CONV_BLOCK_GRADIENT_RESIDENT / tiles;
    size_t most = conv_block_all_pixels(shape) / CONV_BLOCK_GRADIENT_LEAST;
    wanted = wanted < most ? wanted : most;
    return wanted > 1 ? (int)wanted : 1;
}

// --- workspace ------------------------------------------------------------------------------------------------------

// Places of the arrays, and the total as `size`. Arrays that a direction does not need have size 0.
typedef struct conv_block_layout {
    size_t input;        // (n, h, w, padded c), if it has to be copied
    size_t packed;       // (9, padded channels, columns): the weight
    size_t shift;        // (k): inference
    size_t parts;        // forward: (2, k, parts) of statistics; backward: (2, k, parts) of sums
    size_t coefficients; // (3, padded k): of batchnorm's gradient
    size_t gradient;     // (n, h, w, padded k): of the convolution
    size_t weight_parts; // (parts, k, columns)
    size_t size;
} conv_block_layout;

static inline size_t conv_block_take(conv_block_layout *layout, size_t floats)
{
    size_t at = layout->size;
    layout->size += conv_block_ceil_div(floats, CONV_BLOCK_PART_ALIGNMENT) * CONV_BLOCK_PART_ALIGNMENT;
    return at;
}

static inline size_t conv_block_copy_size(const heddle_conv_block_shape *shape)
{
    return conv_block_copies_input(shape) ? conv_block_all_pixels(shape) * conv_block_padded(shape->c) : 0;
}

static inline conv_block_layout conv_block_forward_layout(const heddle_conv_block_shape *shape)
{
    conv_block_layout layout;
    memset(&layout, 0, sizeof layout);
    layout.input = conv_block_take(&layout, conv_block_copy_size(shape));
    layout.packed = conv_block_take(&layout, conv_block_packed_size(shape->c, shape->k));
    layout.parts = conv_block_take(&layout, 2 * shape->k * conv_block_statistics_parts(shape));
    return layout;
}

static inline conv_block_layout conv_block_inference_layout(const heddle_conv_block_shape *shape)
{
    conv_block_layout layout;
    memset(&layout, 0, sizeof layout);
    layout.input = conv_block_take(&layout, conv_block_copy_size(shape));
    layout.packed = conv_block_take(&layout, conv_block_packed_size(shape->c, shape->k));
    layout.shift = conv_block_take(&layout, shape->k);
    return layout;
}

static inline conv_block_layout conv_block_backward_layout(const heddle_conv_block_shape *shape)
{
    conv_block_layout layout;
    memset(&layout, 0, sizeof layout);
    layout.input = conv_block_take(&layout, conv_block_copy_size(shape));
    layout.packed = conv_block_take(&layout, conv_block_packed_size(shape->k, shape->c));
    layout.parts = conv_block_take(&layout, 2 * shape->k * conv_block_sum_parts(shape));
    layout.coefficients = conv_block_take(&layout, (size_t)3 * conv_block_padded(shape->k));
    layout.gradient = conv_block_take(&layout, conv_block_all_pixels(shape) * conv_block_padded(shape->k));
    layout.weight_parts = conv_block_take(&layout, (size_t)conv_block_gradient_parts(shape) * shape->k *
                                                       conv_block_gradient_columns(shape));
    return layout;
}
