// Copies of one image between layouts, one row of pixels at a time, or the whole image if its pixels have no gaps.

#include "ops/cpu/image.h"

#include <string.h>

// Zeros in the channels a pixel does not have.
static void clear_channels(float *to, size_t pixels, int from, int channels)
{
    for (size_t pixel = 0; from < channels && pixel < pixels; pixel++)
        memset(to + pixel * channels + from, 0, sizeof(float) * (channels - from));
}

// `pixels` neighbouring ones, from (y, x) = (first / width, first % width) on, to channels last.
static void gather_pixels(const heddle_cpu_kernels *kernels, const heddle_image_layout *layout, const float *from,
                          size_t first, size_t pixels, int channels, float *to)
{
    size_t c = (size_t)layout->channels, plane = (size_t)layout->height * layout->width;
    if (!layout->channels_last)
        kernels->transpose(from + first, (ptrdiff_t)plane, (int)c, (int)pixels, to, channels);
    else if (layout->channels == channels)
        memcpy(to, from + first * c, sizeof(float) * pixels * c);
    else
        for (size_t pixel = 0; pixel < pixels; pixel++)
            memcpy(to + pixel * channels, from + (first + pixel) * c, sizeof(float) * c);
    clear_channels(to, pixels, layout->channels, channels);
}

static void spread_pixels(const heddle_cpu_kernels *kernels, const heddle_image_layout *layout, const float *from,
                          int channels, size_t first, size_t pixels, float *to)
{
    size_t c = (size_t)layout->channels, plane = (size_t)layout->height * layout->width;
    if (!layout->channels_last)
        kernels->transpose(from, channels, (int)pixels, (int)c, to + first, (ptrdiff_t)plane);
    else if (layout->channels == channels)
        memcpy(to + first * c, from, sizeof(float) * pixels * c);
    else
        for (size_t pixel = 0; pixel < pixels; pixel++)
            memcpy(to + (first + pixel) * c, from + pixel * channels, sizeof(float) * c);
}

void heddle_image_pad(const heddle_cpu_kernels *kernels, const heddle_image_layout *layout, const float *from,
                      const heddle_image_frame *frame, float *to)
{
    size_t pixel = (size_t)frame->channels, row = frame->columns * pixel, width = (size_t)layout->width;
    int border = frame->border, right = frame->columns - border - layout->width;
    memset(to, 0, sizeof(float) * border * row);
    for (int y = 0; y < layout->height; y++) {
        float *line = to + (border + y) * row;
        memset(line, 0, sizeof(float) * border * pixel);
        gather_pixels(kernels, layout, from, y * width, width, frame->channels, line + border * pixel);
        memset(line + (border + layout->width) * pixel, 0, sizeof(float) * right * pixel);
    }
    memset(to + (border + layout->height) * row, 0, sizeof(float) * (frame->rows - border - layout->height) * row);
}

void heddle_image_unpad(const heddle_cpu_kernels *kernels, const heddle_image_layout *layout,
                        const heddle_image_frame *frame, const float *from, float *to)
{
    size_t pixel = (size_t)frame->channels, row = frame->columns * pixel, width = (size_t)layout->width;
    for (int y = 0; y < layout->height; y++)
        spread_pixels(kernels, layout, from + (frame->border + y) * row + frame->border * pixel, frame->channels,
                      y * width, width, to);
}

void heddle_image_gather(const heddle_cpu_kernels *kernels, const heddle_image_layout *layout, const float *from,
                         int channels, float *to)
{
    gather_pixels(kernels, layout, from, 0, (size_t)layout->height * layout->width, channels, to);
}

void heddle_image_spread(const heddle_cpu_kernels *kernels, const heddle_image_layout *layout, const float *from,
                         int channels, const float *add, float *to)
{
    size_t pixels = (size_t)layout->height * layout->width, c = (size_t)layout->channels;
    spread_pixels(kernels, layout, from, channels, 0, pixels, to);
    for (size_t channel = 0; add && channel < c; channel++)
        for (size_t pixel = 0; pixel < pixels; pixel++)
            to[layout->channels_last ? pixel * c + channel : channel * pixels + pixel] += add[channel];
}
