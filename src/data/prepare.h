// From any picture to what a network was trained on: the same background, the right size, in the middle. Pixels only;
// reading files is io's business.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "heddle/data.h"

// What a picture has to look like, from the images that a network was trained on.
typedef struct heddle_image_traits {
    // Mean brightness, 0 to 1, of the outermost pixels: near 0 for things on a dark background, near 1 on a light one,
    // between for photographs that fill their frame.
    double border;
    // The part of an image's side, 0 to 1, that the longer side of what is drawn takes on average: 20/28 in MNIST. 0:
    // the images have no background, or are coloured. NAN: not known.
    double extent;
} heddle_image_traits;

heddle_image_traits heddle_measure_traits(const heddle_dataset *dataset);

typedef struct heddle_prepare_options {
    int channels, height, width; // of the network's input
    heddle_image_traits traits;
} heddle_prepare_options;

// pixels (rows, cols, options->channels) → prepared (channels, height, width) in [0, 1]. A picture is inverted if the
// training images have a background and its own is the opposite. It is then cut to what is drawn, scaled to the extent
// of the training images, and centred; if they have no extent, the whole picture is scaled, as heddle_scale does.
// `said` describes what was done: "dark on light, inverted; 300×200 cut to the ink, 120×160, scaled to 15×20, centred
// in 28×28".
heddle_status heddle_prepare(const uint8_t *pixels, int rows, int cols, const heddle_prepare_options *options,
                             float *prepared, char *said, size_t said_size);
