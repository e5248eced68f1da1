// PNG pictures in and out. Every kind of PNG is read; what it shows is brought to 8-bit gray or RGB.
#pragma once

#include "io/picture.h"

// Reads a PNG from memory as `channels` (1 or 3) bytes a pixel; `what` names it in errors. Transparent pixels are laid
// over white, or over black if the drawing is light and would vanish on white. Over HEDDLE_PICTURE_MAX_PIXELS pixels is
// HEDDLE_UNSUPPORTED; a build without libpng is HEDDLE_MISSING.
heddle_status heddle_png_parse(const char *what, const void *content, size_t size, int channels,
                               heddle_picture *picture);
// Reads only the header.
heddle_status heddle_png_measure(const char *what, const void *content, size_t size, heddle_picture_info *info);

// Writes 8-bit gray or RGB; a reader sees the old file or the new one.
heddle_status heddle_png_write(const char *path, const heddle_picture *picture);
