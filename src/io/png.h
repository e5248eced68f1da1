// PNG pictures in and out, as plain bytes. Every kind of PNG is read; what it shows is brought to 8-bit gray or RGB.
#ifndef HEDDLE_IO_PNG_H
#define HEDDLE_IO_PNG_H

#include <stddef.h>
#include <stdint.h>

#include "heddle/status.h"

typedef struct heddle_picture {
    int width, height;
    int channels;    // 1: gray, 3: RGB
    uint8_t *pixels; // (height, width, channels)
} heddle_picture;

enum { HEDDLE_PNG_MAX_PIXELS = 64 * 1024 * 1024 };

// Reads a PNG file as `channels` (1 or 3) bytes a pixel. Transparent pixels are laid over white, or over black if
// the drawing is light and would vanish on white. Over HEDDLE_PNG_MAX_PIXELS pixels is HEDDLE_UNSUPPORTED; a build
// without libpng is HEDDLE_MISSING.
heddle_status heddle_png_read(const char *path, int channels, heddle_picture *picture);
// The same from memory; `what` names it in errors.
heddle_status heddle_png_parse(const char *what, const void *content, size_t size, int channels,
                               heddle_picture *picture);
void heddle_picture_free(heddle_picture *picture); // a zeroed one is fine

// Writes 8-bit gray or RGB; a reader sees the old file or the new one.
heddle_status heddle_png_write(const char *path, const heddle_picture *picture);

#endif
