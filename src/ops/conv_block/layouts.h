// The layout of one image's operands of a conv block in memory, in the kernels' terms.
#pragma once

#include "heddle/ops.h"
#include "ops/cpu/image.h"
#include "ops/cpu/kernels.h"

static inline heddle_image_layout heddle_conv_block_input_layout(const heddle_conv_block_shape *shape)
{
    return (heddle_image_layout){shape->c, shape->h, shape->w, shape->input_channels_last};
}

static inline heddle_image_layout heddle_conv_block_output_layout(const heddle_conv_block_shape *shape)
{
    return (heddle_image_layout){shape->k, shape->h / 2, shape->w / 2, shape->output_channels_last};
}

// (h, w, k), dense.
static inline heddle_cpu_extent heddle_conv_block_convolution_extent(const heddle_conv_block_shape *shape)
{
    return (heddle_cpu_extent){.height = shape->h,
                               .width = shape->w,
                               .channels = shape->k,
                               .row = (ptrdiff_t)shape->w * shape->k,
                               .pixel = shape->k};
}

// The pooled image, channels last, each pixel `channels` floats from the next.
static inline heddle_cpu_extent heddle_conv_block_windows_extent(const heddle_conv_block_shape *shape, int channels)
{
    return (heddle_cpu_extent){.height = shape->h / 2,
                               .width = shape->w / 2,
                               .channels = shape->k,
                               .row = (ptrdiff_t)(shape->w / 2) * channels,
                               .pixel = channels};
}

static inline size_t heddle_conv_block_windows(const heddle_conv_block_shape *shape)
{
    return (size_t)(shape->h / 2) * (shape->w / 2);
}
