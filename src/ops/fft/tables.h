// What fft's and rfft's tables have in common.
#pragma once

#include "heddle/ops.h"

enum {
    HEDDLE_FFT_FIELDS = 4,
    HEDDLE_FFT_LONGEST_NAIVE = 1024, // n products a number: a longer line would wait for minutes
    HEDDLE_FFT_LEAST_REGISTERS = 32, // shorter lines leave too few threads each to spread over
    // Bluestein's algorithm works with a power of two that is at least 2 n - 1, and counts in int.
    HEDDLE_FFT_LONGEST_ROUGH = 1 << 29,
};

extern const heddle_field heddle_fft_fields[HEDDLE_FFT_FIELDS];
heddle_status heddle_fft_validate(const void *shape);
// How long a sum has roundings like those of a transform of so many numbers. A number goes through log2 of them stages,
// whose roundings at worst add up, as those of a sum of the square of that do on average. Where the naive rungs do it,
// it is the sum of `naive` numbers that they write (0: they do not).
int64_t heddle_fft_roundings(double naive, double numbers);
int64_t heddle_fft_reduction(const void *shape);

// What rungs of both can do: the naive ones short lines, cuFFT what need not be scaled.
bool heddle_fft_is_short(const void *shape);
bool heddle_fft_is_plain(const void *shape);
