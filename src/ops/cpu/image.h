// Conversion of one image between the caller's layout, channels first or last, and the layouts of the kernels.
#pragma once

#include "ops/cpu/kernels.h"

// An image as a caller has it: (c, h, w), or (h, w, c) when channels_last.
typedef struct heddle_image_layout {
    int channels, height, width;
    int channels_last;
} heddle_image_layout;

static inline size_t heddle_image_elements(const heddle_image_layout *layout)
{
    return (size_t)layout->channels * layout->height * layout->width;
}

// Channels last, inside a border of zeros: to (rows, columns, channels) has the image at (border, border), and zeros
// all around it and in the channels it does not have.
typedef struct heddle_image_frame {
    int rows, columns, channels; // of the whole, border included
    int border;
} heddle_image_frame;
void heddle_image_pad(const heddle_cpu_kernels *kernels, const heddle_image_layout *layout, const float *from,
                      const heddle_image_frame *frame, float *to);
// Copies the image back out of the frame.
void heddle_image_unpad(const heddle_cpu_kernels *kernels, const heddle_image_layout *layout,
                        const heddle_image_frame *frame, const float *from, float *to);

// to (height, width, channels) dense, channels from the layout's own up to `channels` zero.
void heddle_image_gather(const heddle_cpu_kernels *kernels, const heddle_image_layout *layout, const float *from,
                         int channels, float *to);
// The reverse; `add` (one value per channel) may be NULL.
void heddle_image_spread(const heddle_cpu_kernels *kernels, const heddle_image_layout *layout, const float *from,
                         int channels, const float *add, float *to);
