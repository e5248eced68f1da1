// Copies of one image between layouts. The image is in cache when it is needed, so these are simple loops.

#include "ops/cpu/image.h"

#include <string.h>

// A row of pixels from any layout to channels last, the missing channels zero.
static void gather_row(const heddle_image_layout *layout, const float *from, int y, int channels, float *to)
{
    int c = layout->channels, width = layout->width;
    if (layout->channels_last) {
        const float *row = from + (size_t)y * width * c;
        if (c == channels) {
            memcpy(to, row, sizeof(float) * width * c);
            return;
        }
        for (int x = 0; x < width; x++) {
            memcpy(to + (size_t)x * channels, row + (size_t)x * c, sizeof(float) * c);
            memset(to + (size_t)x * channels + c, 0, sizeof(float) * (channels - c));
        }
        return;
    }
    for (int channel = 0; channel < c; channel++) {
        const float *row = from + ((size_t)channel * layout->height + y) * width;
        for (int x = 0; x < width; x++)
            to[(size_t)x * channels + channel] = row[x];
    }
    for (int x = 0; c < channels && x < width; x++)
        memset(to + (size_t)x * channels + c, 0, sizeof(float) * (channels - c));
}

static void spread_row(const heddle_image_layout *layout, const float *from, int y, int channels, const float *add,
                       float *to)
{
    int c = layout->channels, width = layout->width;
    if (layout->channels_last) {
        float *row = to + (size_t)y * width * c;
        if (c == channels && !add) {
            memcpy(row, from, sizeof(float) * width * c);
            return;
        }
        for (int x = 0; x < width; x++)
            for (int channel = 0; channel < c; channel++)
                row[(size_t)x * c + channel] = from[(size_t)x * channels + channel] + (add ? add[channel] : 0);
        return;
    }
    for (int channel = 0; channel < c; channel++) {
        float *row = to + ((size_t)channel * layout->height + y) * width, term = add ? add[channel] : 0;
        for (int x = 0; x < width; x++)
            row[x] = from[(size_t)x * channels + channel] + term;
    }
}

void heddle_image_pad(const heddle_image_layout *layout, const float *from, const heddle_image_frame *frame, float *to)
{
    size_t pixel = (size_t)frame->channels, row = frame->columns * pixel;
    int border = frame->border, right = frame->columns - border - layout->width;
    memset(to, 0, sizeof(float) * border * row);
    for (int y = 0; y < layout->height; y++) {
        float *line = to + (border + y) * row;
        memset(line, 0, sizeof(float) * border * pixel);
        gather_row(layout, from, y, frame->channels, line + border * pixel);
        memset(line + (border + layout->width) * pixel, 0, sizeof(float) * right * pixel);
    }
    memset(to + (border + layout->height) * row, 0, sizeof(float) * (frame->rows - border - layout->height) * row);
}

void heddle_image_unpad(const heddle_image_layout *layout, const heddle_image_frame *frame, const float *from,
                        float *to)
{
    size_t pixel = (size_t)frame->channels, row = frame->columns * pixel;
    for (int y = 0; y < layout->height; y++)
        spread_row(layout, from + (frame->border + y) * row + frame->border * pixel, y, frame->channels, NULL, to);
}

void heddle_image_gather(const heddle_image_layout *layout, const float *from, int channels, float *to)
{
    for (int y = 0; y < layout->height; y++)
        gather_row(layout, from, y, channels, to + (size_t)y * layout->width * channels);
}

void heddle_image_spread(const heddle_image_layout *layout, const float *from, int channels, const float *add,
                         float *to)
{
    for (int y = 0; y < layout->height; y++)
        spread_row(layout, from + (size_t)y * layout->width * channels, y, channels, add, to);
}
