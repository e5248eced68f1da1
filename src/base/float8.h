// e4m3, the 8-bit floating-point format of tensor cores' inputs: 4 bits of exponent, 3 of mantissa. It has no infinity;
// its largest number is 448, and the pattern of all ones is its NaN.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float heddle_e4m3_decode(uint8_t bits)
{
    const uint32_t size = bits & 0x7f, moved = (uint32_t)(bits & 0x80) << 24 | size << 20;
    float value;
    memcpy(&value, &moved, sizeof value);
    // A float's exponent counts from 127, this one's from 7.
    return size == 0x7f ? NAN : value * 0x1p120f;
}

// The nearest one, ties to even; what is larger than the largest becomes the largest, as in CUDA's conversions.
static inline uint8_t heddle_e4m3_encode(double value)
{
    const double most = 448, size = fabs(value);
    const uint8_t sign = signbit(value) ? 0x80 : 0;
    if (isnan(value))
        return (uint8_t)(sign | 0x7f);
    if (size >= most)
        return (uint8_t)(sign | 0x7e);
    int exponent;
    frexp(size, &exponent);         // size is in [2^(exponent - 1), 2^exponent)
    if (size == 0 || exponent < -5) // below 2^-6 steps of 2^-9 are left
        exponent = -5;
    // In steps of an eighth of the power of two below; 16 of them are the first of the next.
    const int steps = (int)lrint(ldexp(size, 4 - exponent));
    return (uint8_t)(sign | ((exponent + 5) * 8 + steps));
}
