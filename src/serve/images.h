// Images as requests carry them, read by pure functions: lists of numbers, or PNG files in base64.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "data/prepare.h"

struct cJSON;

enum { HEDDLE_SERVE_MOST_IMAGES = 1024 }; // of one request

// Reads "image", one image, or "images", a list of them, of a request. An image is a list of channels × height × width
// numbers from 0 to 255, or the base64 of a PNG: one of the wanted size is taken as it is, any other is prepared as
// `heddle predict` does it. *pixels (count, channels, height, width) in [0, 1] is the caller's to free. HEDDLE_INVALID,
// HEDDLE_CORRUPT or HEDDLE_UNSUPPORTED says what is wrong.
heddle_status heddle_serve_images_read(const struct cJSON *request, const heddle_prepare_options *wanted,
                                       float **pixels, int *count);

// The caller frees *bytes. HEDDLE_CORRUPT: it is not base64.
heddle_status heddle_serve_base64_read(const char *text, uint8_t **bytes, size_t *size);
// NULL: no memory. The caller frees it.
char *heddle_serve_base64_write(const uint8_t *bytes, size_t size);
