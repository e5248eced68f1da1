// Images of noise with random labels, for measuring networks of any size: nothing can be learnt from them, and they
// cost next to nothing to make.
#pragma once

#include "heddle/data.h"

typedef struct heddle_noise {
    int count, channels, height, width, classes;
} heddle_noise;

// Labels are bytes, so of more than 256 classes only the first 256 occur.
heddle_status heddle_noise_open(const heddle_noise *noise, heddle_dataset **dataset);
