// Brings a picture to another size: by area averaging where it shrinks, by bilinear interpolation where it grows.
#pragma once

#include <stdint.h>

#include "heddle/status.h"

// pixels (rows, cols, channels) → planes (channels, height, width). Integer arithmetic: every machine gives the same
// bytes. A picture of the right size is only rearranged.
heddle_status heddle_scale(const uint8_t *pixels, int rows, int cols, int channels, uint8_t *planes, int height,
                           int width);
