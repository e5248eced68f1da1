// One pass of a transform: lines of one length from one place to another. One kernel handles it.
#pragma once

#include "ops/fft/fft.h"

typedef struct fft_pass {
    const float *input;
    float *output;
    unsigned lines;
    heddle_fft_lines from, to;
    // Input element q of line l is first multiplied by exp(-2πi (l % to.inner) q / modulus), which the passes before
    // leave to this one. 0: not.
    unsigned modulus;
    float input_sign; // of imaginary parts that are read: -1 if the first pass of an inverse transform conjugates
    float scale, output_sign; // of all that is written; of its imaginary parts
} fft_pass;
