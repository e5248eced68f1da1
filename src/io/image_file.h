// Image files, PNG or JPEG by their first bytes, whatever they are called.
#pragma once

#include "io/picture.h"

// Whether a name ends in .png, .jpg or .jpeg, in any case.
bool heddle_image_file_is_named(const char *path);

// Reads a file as `channels` (1 or 3) bytes a pixel, as heddle_png_parse and heddle_jpeg_parse do.
heddle_status heddle_image_file_read(const char *path, int channels, heddle_picture *picture);
// Reads only what its header says.
heddle_status heddle_image_file_measure(const char *path, heddle_picture_info *info);
