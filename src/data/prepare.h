// From any picture to what a network was trained on: light on dark, the right size, in the middle. Pixels only; reading
// files is io's business.
#ifndef HEDDLE_DATA_PREPARE_H
#define HEDDLE_DATA_PREPARE_H

#include <stddef.h>
#include <stdint.h>

#include "heddle/status.h"

typedef struct heddle_prepare_options {
    int channels, height, width; // of the network's input
    // MNIST's way with handwriting: cut to the ink, scale to 20/28 of the size, centre of mass in the middle. Otherwise
    // the whole picture is scaled to fit.
    int is_handwriting;
} heddle_prepare_options;

// pixels (rows, cols, options->channels) → prepared (channels, height, width) in [0, 1]. `said` tells a person what was
// done: "dark on light, inverted; 300×200 cut to 120×160, scaled to 15×20, centred".
heddle_status heddle_prepare(const uint8_t *pixels, int rows, int cols, const heddle_prepare_options *options,
                             float *prepared, char *said, size_t said_size);

#endif
