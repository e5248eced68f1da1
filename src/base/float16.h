// The two 16-bit floating-point formats: bfloat16, the upper half of a float, and IEEE half precision; and pairs of
// the latter, hi + lo / 2048, which hold 22 bits.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float heddle_bf16_decode(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The nearest one, ties to even.
static inline uint16_t heddle_bf16_encode(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value)
        return (uint16_t)(bits >> 16 | 0x40); // a NaN stays one, whatever bits are cut off
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// 5 bits of exponent, 10 of mantissa.
static inline double heddle_f16_decode(uint16_t half)
{
    int exponent = half >> 10 & 31, mantissa = half & 1023;
    double sign = half & 0x8000 ? -1 : 1;
    if (exponent == 31)
        return mantissa ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(1024 + mantissa, exponent - 25) : mantissa * 0x1p-24);
}

static inline uint16_t heddle_f16_encode(double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, absolute = bits & 0x7fffffff;
    if (absolute > 0x7f800000)
        return (uint16_t)(sign | 0x7e00); // NaN
    if (absolute >= 0x477ff000)
        return (uint16_t)(sign | 0x7c00); // 65520 and more: infinity
    if (absolute < 0x38800000)            // below 2^-14 steps of 2^-24 are left
        return (uint16_t)(sign | (uint32_t)lrint(fabs(value) * 0x1p24));
    return (uint16_t)(sign | (absolute - 0x38000000 + 0xfff + (absolute >> 13 & 1)) >> 13);
}

// Scaled, the lower half of a pair is a normal number wherever the upper one is.
static const double heddle_f16_pair_scale = 2048;

static inline double heddle_f16_pair_decode(uint16_t hi, uint16_t lo)
{
    return heddle_f16_decode(hi) + heddle_f16_decode(lo) / heddle_f16_pair_scale;
}

static inline void heddle_f16_pair_encode(double value, uint16_t *hi, uint16_t *lo)
{
    *hi = heddle_f16_encode(value);
    *lo = heddle_f16_encode((value - heddle_f16_decode(*hi)) * heddle_f16_pair_scale);
}
