// JPEG pictures, read into 8-bit gray or RGB.
#pragma once

#include "io/picture.h"

// Reads a JPEG from memory as `channels` (1 or 3) bytes a pixel; `what` names it in errors. Baseline and progressive,
// gray, YCbCr, RGB and CMYK are read; the orientation that a camera notes is not applied. Over
// HEDDLE_PICTURE_MAX_PIXELS pixels is HEDDLE_UNSUPPORTED; a build without libjpeg is HEDDLE_MISSING.
heddle_status heddle_jpeg_parse(const char *what, const void *content, size_t size, int channels,
                                heddle_picture *picture);
// Reads only the header.
heddle_status heddle_jpeg_measure(const char *what, const void *content, size_t size, heddle_picture_info *info);
