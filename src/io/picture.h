// A picture as plain bytes, 8-bit gray or RGB: what readers of image files give and writers take.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle/status.h"

typedef struct heddle_picture {
    int width, height;
    int channels;    // 1: gray, 3: RGB
    uint8_t *pixels; // (height, width, channels)
} heddle_picture;

// What a file's header says.
typedef struct heddle_picture_info {
    int width, height;
    bool grey; // stored without colours
} heddle_picture_info;

enum {
    HEDDLE_PICTURE_MAX_PIXELS = 64 * 1024 * 1024,
    HEDDLE_PICTURE_MAX_BYTES = 1 << 30, // of a file
};

void heddle_picture_free(heddle_picture *picture); // a zeroed one is fine

// The arguments and the sizes that all readers refuse.
heddle_status heddle_picture_check_channels(const char *what, int channels);
heddle_status heddle_picture_check_size(const char *what, uint64_t width, uint64_t height);

// Luma by ITU-R BT.601, in 1/256ths.
static inline uint8_t heddle_luma(const uint8_t rgb[3])
{
    return (uint8_t)((77u * rgb[0] + 150u * rgb[1] + 29u * rgb[2] + 128u) >> 8);
}
