// What the tables of fft and rfft share.
#pragma once

#include "heddle/ops.h"

enum {
    HEDDLE_FFT_FIELDS = 4,
    HEDDLE_FFT_LONGEST_NAIVE = 1024, // n products per number: a longer line would take minutes
    HEDDLE_FFT_LEAST_REGISTERS = 32, // shorter lines leave too few threads each
    // Bluestein's algorithm uses a power of two that is at least 2 n - 1, and counts in int.
    HEDDLE_FFT_LONGEST_ROUGH = 1 << 29,
};

extern const heddle_field heddle_fft_fields[HEDDLE_FFT_FIELDS];
heddle_status heddle_fft_validate(const void *shape);
// The length of a sum with the same rounding error as a transform of that many numbers. A number goes through log2 n
// stages, whose errors at worst add up, as in an average sum of (log2 n)² terms. For the naive rungs it is the defining
// sum of `naive` numbers (0: they are not run).
int64_t heddle_fft_roundings(double naive, double numbers);
int64_t heddle_fft_reduction(const void *shape);

// What rungs of both can handle: the naive ones short lines, cuFFT unscaled results.
bool heddle_fft_is_short(const void *shape);
bool heddle_fft_is_plain(const void *shape);
