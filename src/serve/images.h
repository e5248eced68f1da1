// Images as requests carry them, read by pure functions: lists of numbers, or PNG files in base64.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/prepare.h"

struct cJSON;

// Of one request: images, pixels of all its PNGs, and numbers that the images become.
enum { HEDDLE_SERVE_MOST_IMAGES = 1024, HEDDLE_SERVE_MOST_PIXELS = 1 << 24, HEDDLE_SERVE_MOST_NUMBERS = 1 << 26 };

// What a request becomes for a network of that input.
typedef struct heddle_serve_images {
    float *pixels; // (count, channels, height, width) in [0, 1]
    int count, channels, height, width;
    bool too_large; // the reason why it was refused: more PNG pixels or more numbers than one request may have
} heddle_serve_images;

// Reads "image", one image, or "images", a list of them, of a request. An image is a list of channels × height × width
// numbers from 0 to 255, or the base64 of a PNG: one of the wanted size is taken as it is, any other is prepared as
// `heddle predict` does it. The pixels are the caller's to free; NULL after a failure. HEDDLE_INVALID, HEDDLE_CORRUPT
// or HEDDLE_UNSUPPORTED says what is wrong.
heddle_status heddle_serve_images_read(const struct cJSON *request, const heddle_prepare_options *wanted,
                                       heddle_serve_images *images);

// The caller frees *bytes. HEDDLE_CORRUPT: it is not base64.
heddle_status heddle_serve_base64_read(const char *text, uint8_t **bytes, size_t *size);
// NULL: no memory. The caller frees it.
char *heddle_serve_base64_write(const uint8_t *bytes, size_t size);
