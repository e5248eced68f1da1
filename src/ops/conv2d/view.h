// A convolution as its kernels see it: every output pixel gathers from a source image, tap by tap. The forward pass
// gathers from the input; the gradient of the input gathers from grad_output, with the two kinds of channels swapped.
// One kernel serves both.
#pragma once

#include "ops/conv2d/conv2d.h"

// source: (images, channels, height, width), output: (images, filters, out_height, out_width). Tap t of output position
// p reads place (p * position_step + t * tap_step + origin) / divisor of the source, if that is a whole number and
// inside.
typedef struct conv2d_view {
    int images, channels, height, width;
    int filters, rows, columns, out_height, out_width;
    int position_step, tap_step, origin, divisor;
    int filter_stride, channel_stride; // of the weight, in elements; the taps of one pair of channels are adjacent
} conv2d_view;

static inline conv2d_view conv2d_view_forward(const heddle_conv2d_shape *shape)
{
    conv2d_view view;
    view.images = shape->n, view.channels = shape->c, view.height = shape->h, view.width = shape->w;
    view.filters = shape->k, view.rows = shape->r, view.columns = shape->s;
    view.out_height = heddle_conv2d_extent(shape, shape->h, shape->r);
    view.out_width = heddle_conv2d_extent(shape, shape->w, shape->s);
    view.position_step = shape->stride, view.tap_step = shape->dilation;
    view.origin = -shape->padding, view.divisor = 1;
    view.filter_stride = shape->c * shape->r * shape->s, view.channel_stride = shape->r * shape->s;
    return view;
}

static inline conv2d_view conv2d_view_backward_data(const heddle_conv2d_shape *shape)
{
    conv2d_view view;
    view.images = shape->n, view.channels = shape->k, view.filters = shape->c;
    view.height = heddle_conv2d_extent(shape, shape->h, shape->r);
    view.width = heddle_conv2d_extent(shape, shape->w, shape->s);
    view.rows = shape->r, view.columns = shape->s, view.out_height = shape->h, view.out_width = shape->w;
    view.position_step = 1, view.tap_step = -shape->dilation;
    view.origin = shape->padding, view.divisor = shape->stride;
    view.filter_stride = shape->r * shape->s, view.channel_stride = shape->c * shape->r * shape->s;
    return view;
}

static inline int conv2d_taps(const conv2d_view *view)
{
    return view->rows * view->columns;
}

// Output pixels of all images: the rows of the matrix when a convolution is written as a product.
static inline long long conv2d_pixels(const conv2d_view *view)
{
    return (long long)view->images * view->out_height * view->out_width;
}

// The weight as tiles need it, one row per (channel, tap) with its filters adjacent. Rows and columns are padded with
// zeros to whole tiles.
enum {
    CONV2D_PACKED_ROWS = 16,
    CONV2D_PACKED_COLUMNS = 64,
};

static inline int conv2d_packed_columns(const conv2d_view *view)
{
    return (view->filters + CONV2D_PACKED_COLUMNS - 1) / CONV2D_PACKED_COLUMNS * CONV2D_PACKED_COLUMNS;
}

static inline int conv2d_packed_rows(const conv2d_view *view)
{
    long long rows = (long long)view->channels * conv2d_taps(view);
    return (int)((rows + CONV2D_PACKED_ROWS - 1) / CONV2D_PACKED_ROWS * CONV2D_PACKED_ROWS);
}

static inline size_t conv2d_packed_bytes(const conv2d_view *view)
{
    return sizeof(float) * conv2d_packed_rows(view) * conv2d_packed_columns(view);
}

#ifdef __CUDACC__
// Row or column of the source, of `extent`, that a tap reads; -1: none.
__device__ static inline int conv2d_place(const conv2d_view &view, int position, int tap, int extent)
{
    int place = position * view.position_step + tap * view.tap_step + view.origin;
    if (view.divisor > 1) {
        if (place < 0 || place % view.divisor != 0)
            return -1;
        place /= view.divisor;
    }
    return place >= 0 && place < extent ? place : -1;
}
#endif
