// What the implicit GEMM rungs share: the weight packed in the order that tiles read it, and the matrix of windows
// gathered from the image, which is never written to memory.
#pragma once

#include "ops/conv2d/view.h"
#include "ops/cuda/mma.h"
#include "ops/cuda/rung.h"

// packed: (rows, columns), zeros beyond the filter. Taps outermost, so that neighbouring rows are one tap of
// neighbouring channels: one bounds check serves them all.
template <bool tf32>
static __global__ void conv2d_pack_taps(conv2d_view view, int rows, int columns, const float *weight, float *packed)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)rows * columns)
        return;
    int filter = (int)(at % columns), row = (int)(at / columns), tap = row / view.channels;
    float value = 0;
    if (filter < view.filters && tap < view.rows * view.columns)
        value = weight[(size_t)filter * view.filter_stride + (size_t)(row % view.channels) * view.channel_stride + tap];
    packed[at] = tf32 ? __uint_as_float(mma_to_tf32(value)) : value;
}

// A place in the matrix of windows: its row is the window of one output pixel, its column one tap of one channel.
typedef struct conv2d_cursor {
    const float *image;       // NULL: beyond the last
    const float *from;        // the element; NULL: it lies outside the image and is 0
    int y, x;                 // the pixel
    int channel, row, column; // of the source and of the filter
} conv2d_cursor;

// Computes where the cursor's element is: once per tap, not once per element.
__device__ static inline void conv2d_locate(const conv2d_view &view, conv2d_cursor &cursor)
{
    int h = conv2d_place(view, cursor.y, cursor.row, view.height);
    int w = conv2d_place(view, cursor.x, cursor.column, view.width);
    cursor.from = NULL;
    if (cursor.image && cursor.row < view.rows && h >= 0 && w >= 0)
        cursor.from = cursor.image + ((size_t)cursor.channel * view.height + h) * view.width + w;
}

// `count` columns on.
__device__ static inline void conv2d_skip(const conv2d_view &view, size_t plane, conv2d_cursor &cursor, int count)
{
    cursor.channel += count;
    if (cursor.channel < view.channels) {
        if (cursor.from)
            cursor.from += count * plane;
        return;
    }
    while (cursor.channel >= view.channels) {
        cursor.channel -= view.channels;
        if (++cursor.column == view.columns) {
            cursor.column = 0;
            cursor.row++;
        }
    }
    conv2d_locate(view, cursor);
}

// Column `column` of output pixel `index`'s row.
__device__ static inline conv2d_cursor conv2d_cursor_at(const conv2d_view &view, const float *source, long long index,
                                                        int column)
{
    int plane = view.out_height * view.out_width, within = (int)(index % plane), tap = column / view.channels;
    long long n = index / plane;
    conv2d_cursor cursor;
    cursor.image = n < view.images ? source + (size_t)n * view.channels * view.height * view.width : NULL;
    cursor.y = within / view.out_width;
    cursor.x = within % view.out_width;
    cursor.channel = column % view.channels;
    cursor.row = tap / view.columns;
    cursor.column = tap % view.columns;
    conv2d_locate(view, cursor);
    return cursor;
}

// `count` neighbouring elements of a row of the matrix; moves the cursor past them. whole: channels are a multiple of
// `count`, so that all belong to one tap.
template <int count, bool whole>
__device__ static inline void conv2d_gather(const conv2d_view &view, size_t plane, conv2d_cursor &cursor,
                                            float value[count])
{
    if (whole) {
        const float *from = cursor.from;
#pragma unroll
        for (int i = 0; i < count; i++, from += plane)
            value[i] = cursor.from ? *from : 0.0f;
        conv2d_skip(view, plane, cursor, count);
    } else {
#pragma unroll
        for (int i = 0; i < count; i++) {
            value[i] = cursor.from ? *cursor.from : 0.0f;
            conv2d_skip(view, plane, cursor, 1);
        }
    }
}
