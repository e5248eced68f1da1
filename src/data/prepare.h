// From any picture to what a network was trained on: the same background, the right size, in the middle. Pixels only;
// reading files is io's business.
#ifndef HEDDLE_DATA_PREPARE_H
#define HEDDLE_DATA_PREPARE_H

#include <stddef.h>
#include <stdint.h>

#include "heddle/data.h"

typedef struct heddle_prepare_options {
    int channels, height, width; // of the network's input
    // MNIST's way with handwriting: cut to the ink, scale to 20/28 of the size, centre of mass in the middle. Otherwise
    // the whole picture is scaled to fit.
    int is_handwriting;
    double border; // of the training images: heddle_border_brightness
} heddle_prepare_options;

// Mean brightness, 0 to 1, of the outermost pixels of all images: near 0 for things on a dark background, near 1 on a
// light one, between for photographs that fill their frame.
double heddle_border_brightness(const heddle_dataset *dataset);

// pixels (rows, cols, options->channels) → prepared (channels, height, width) in [0, 1]. A picture is inverted where
// the training images have a background and its own is the other. `said` tells a person what was done: "dark on light,
// inverted; 300×200 cut to the ink, 120×160, scaled to 15×20, centred in 28×28".
heddle_status heddle_prepare(const uint8_t *pixels, int rows, int cols, const heddle_prepare_options *options,
                             float *prepared, char *said, size_t said_size);

#endif
