// The gradient of the weight as one product: grad_output, filters by pixels, times the matrix of windows, pixels by
// (channel, tap), which is never written to memory. What the rungs share that gather it for tiles in shared memory: a
// thread keeps its rows of the tiles and moves along the pixels.
#pragma once

#include "ops/conv2d/split.h"

// A column of the matrix of windows: where its element lies, relative to the first tap of the first channel.
typedef struct alignas(16) conv2d_column { // one access
    int h, w;                              // h of a column beyond the last: outside every image
    long long offset;
} conv2d_column;

// An output pixel, or the way from one to a later one.
typedef struct conv2d_pixel {
    int n, y, x;
} conv2d_pixel;

__device__ static inline conv2d_pixel conv2d_pixel_at(const conv2d_view &view, long long at)
{
    int plane = view.out_height * view.out_width, within = (int)(at % plane);
    conv2d_pixel pixel = {(int)(at / plane), within / view.out_width, within % view.out_width};
    return pixel;
}

__device__ static inline void conv2d_advance(const conv2d_view &view, const conv2d_pixel &step, conv2d_pixel &pixel)
{
    pixel.x += step.x;
    pixel.y += step.y;
    pixel.n += step.n;
    if (pixel.x >= view.out_width) {
        pixel.x -= view.out_width;
        pixel.y++;
    }
    if (pixel.y >= view.out_height) {
        pixel.y -= view.out_height;
        pixel.n++;
    }
}

// The `count` columns from `first` on, by all threads of the block.
__device__ static inline void conv2d_find_columns(const conv2d_view &view, int first, int count, conv2d_column *columns)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        int column = first + i, taps = view.rows * view.columns;
        bool any = column < view.filter_stride;
        columns[i].h = any ? column % taps / view.columns * view.tap_step : view.height - view.origin;
        columns[i].w = column % view.columns * view.tap_step;
        columns[i].offset = ((long long)(column / taps) * view.height + columns[i].h) * view.width + columns[i].w;
    }
}

// `vector` pixels, 1 or 4, of the channels first, first + apart, ... of source: (images, channels, out_height,
// out_width). Zeros beyond the last channel, and if the pixel is not inside. 4: they are aligned, and of one image.
template <int vector, int count, int apart>
__device__ static inline void conv2d_load_channels(const conv2d_view &view, const conv2d_pixel &pixel, bool inside,
                                                   int channels, int first, const float *source,
                                                   float value[count * vector])
{
    size_t plane = (size_t)view.out_height * view.out_width;
    const float *from =
        source + ((size_t)pixel.n * channels + first) * plane + (size_t)pixel.y * view.out_width + pixel.x;
    int left = inside ? channels - first : 0;
#pragma unroll
    for (int i = 0; i < count; i++, from += apart * plane) {
        if (vector == 4)
            *(float4 *)&value[i * 4] = i * apart < left ? *(const float4 *)from : make_float4(0, 0, 0, 0);
        else
            value[i] = i * apart < left ? *from : 0.0f;
    }
}

// What the pixel's window has in the columns 0, apart, ... of the table; zeros outside the image, beyond the last
// column, and if the pixel is not inside.
template <int count, int apart>
__device__ static inline void conv2d_load_window(const conv2d_view &view, const conv2d_pixel &pixel, bool inside,
                                                 const conv2d_column *columns, const float *input, float window[count])
{
    int h = pixel.y * view.position_step + view.origin, w = pixel.x * view.position_step + view.origin;
    unsigned height = inside ? view.height : 0;
    const float *corner =
        input + (size_t)pixel.n * view.channels * view.height * view.width + (long long)h * view.width + w;
#pragma unroll
    for (int i = 0; i < count; i++) {
        conv2d_column column = columns[i * apart];
        bool seen = (unsigned)h + column.h < height && (unsigned)w + column.w < (unsigned)view.width;
        window[i] = seen ? corner[column.offset] : 0.0f;
    }
}

// bias: a thread's sums of the filters first, first + apart, ...; `lanes` neighbouring lanes have the sums of one
template <int count, int apart, int lanes>
__device__ static inline void conv2d_store_bias(const conv2d_view &view, int first, const float bias[count],
                                                float *part)
{
#pragma unroll
    for (int i = 0; i < count; i++) {
        float sum = bias[i];
        for (int distance = lanes / 2; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, distance);
        if (threadIdx.x % lanes == 0 && first + i * apart < view.filters)
            part[(size_t)view.filters * view.filter_stride + first + i * apart] = sum;
    }
}
