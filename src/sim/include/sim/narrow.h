// Formats narrower than float: half (1+5+10 bits), bfloat16 (1+8+7) and how a number is rounded into them. Used by
// half.h, bfloat16.h and fp8.h, which give them CUDA's names.
#pragma once

#include <stdint.h>

#include "sim/bits.h"
#include "sim/intrinsics_convert.h"
#include "sim/rounding.h"

namespace sim
{

const unsigned short narrow_nan = 0x7fff; // what the chips give for every NaN, in both formats of 16 bits

SIM_INLINE bool rounds_away(uint64_t kept, uint64_t rest, uint64_t unit, bool negative, rounding direction)
{
    switch (direction) {
    case to_zero: return false;
    case upwards: return rest != 0 && !negative;
    case downwards: return rest != 0 && negative;
    default: return rest > unit / 2 || (rest == unit / 2 && (kept & 1) != 0);
    }
}

// The bits, without sign, of a finite number in a format with this many bits of exponent and mantissa. May be those of
// infinity or beyond: too large.
template <int ExponentBits, int MantissaBits> SIM_INLINE uint64_t rounded_bits(double value, rounding direction)
{
    const int lowest_exponent = 2 - (1 << (ExponentBits - 1)); // of a normal number
    const uint64_t bits = bits_as<uint64_t>(value);
    const bool negative = bits >> 63 != 0;
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    const uint64_t mantissa = (bits & 0xfffffffffffffull) | 1ull << 52;
    if (value == 0.0)
        return 0;
    int below = exponent < lowest_exponent ? lowest_exponent - exponent : 0;
    int dropped = 52 - MantissaBits + below;
    if (dropped > 60)
        dropped = 60; // all of it: less than half of the smallest number
    const uint64_t unit = 1ull << dropped, rest = mantissa & (unit - 1);
    uint64_t kept = mantissa >> dropped;
    if (rounds_away(kept, rest, unit, negative, direction))
        kept++;
    return below > 0 ? kept : kept + ((uint64_t)(exponent - lowest_exponent) << MantissaBits);
}

// With infinity and NaN as IEEE 754 has them.
template <int ExponentBits, int MantissaBits> SIM_INLINE unsigned short narrow_bits(double value, rounding direction)
{
    const uint64_t infinity = ((1ull << ExponentBits) - 1) << MantissaBits;
    if (value != value)
        return narrow_nan;
    const bool negative = __builtin_signbit(value);
    const uint64_t sign = negative ? 1ull << (ExponentBits + MantissaBits) : 0;
    if (__builtin_isinf(value))
        return (unsigned short)(sign | infinity);
    uint64_t bits = rounded_bits<ExponentBits, MantissaBits>(value, direction);
    if (bits >= infinity) {
        bool stays = direction == to_zero || direction == (negative ? upwards : downwards);
        bits = stays ? infinity - 1 : infinity;
    }
    return (unsigned short)(sign | bits);
}

// A double's NaN, unlike all others, keeps its sign and what fits of its payload.
template <int ExponentBits, int MantissaBits> SIM_INLINE unsigned short narrow_bits_of_double(double value)
{
    if (value == value)
        return narrow_bits<ExponentBits, MantissaBits>(value, to_nearest);
    const uint64_t bits = bits_as<uint64_t>(value);
    const unsigned int quiet = ((2u << ExponentBits) - 1) << (MantissaBits - 1), payload = (1u << MantissaBits) - 1;
    return (unsigned short)((bits >> 63) << (ExponentBits + MantissaBits) | quiet |
                            (bits >> (52 - MantissaBits) & payload));
}

struct half_format {
    static SIM_INLINE unsigned short from_double(double value)
    {
        return narrow_bits_of_double<5, 10>(value);
    }
    static SIM_INLINE unsigned short from(double value, rounding direction)
    {
        return narrow_bits<5, 10>(value, direction);
    }
    static SIM_INLINE unsigned short nearest(float value)
    {
        const uint32_t bits = bits_as<uint32_t>(value), size = bits & 0x7fffffffu;
        const uint32_t normal = 0x38800000u, too_large = 0x47800000u; // 2^-14 and 2^16
        if (size < normal || size >= too_large)
            return from(value, to_nearest);
        const uint32_t rebias = (127u - 15u) << 23;
        return (unsigned short)(bits >> 16 & 0x8000u) |
               (unsigned short)((size - rebias + 0xfffu + (size >> 13 & 1)) >> 13);
    }
    static SIM_INLINE float value(unsigned short bits)
    {
        const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, size = bits & 0x7fffu;
        if (size >= 0x7c00u) // infinity and NaN
            return bits_as<float>(sign | 0x7f800000u | (size & 0x3ffu) << 13);
        const uint32_t two_to_112 = (127u + 112u) << 23; // the difference of the exponents' biases
        float scaled = bits_as<float>(size << 13) * bits_as<float>(two_to_112); // exact, for subnormal halves too
        return bits_as<float>(sign | bits_as<uint32_t>(scaled));
    }
    // Every sum, product, quotient of halves that was rounded to float rounds on to half without a second error.
    static SIM_INLINE unsigned short from_operation(float in_float, double)
    {
        return nearest(in_float);
    }
};

struct bfloat_format {
    static SIM_INLINE unsigned short from_double(double value)
    {
        return narrow_bits_of_double<8, 7>(value);
    }
    static SIM_INLINE unsigned short from(double value, rounding direction)
    {
        return narrow_bits<8, 7>(value, direction);
    }
    static SIM_INLINE unsigned short nearest(float value)
    {
        if (value != value)
            return narrow_nan;
        const uint32_t bits = bits_as<uint32_t>(value);
        return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
    }
    static SIM_INLINE float value(unsigned short bits)
    {
        return bits_as<float>((uint32_t)bits << 16);
    }
    // As half, but float has no more range than bfloat16: below its normal numbers the double takes over.
    static SIM_INLINE unsigned short from_operation(float in_float, double in_double)
    {
        if (__builtin_fabsf(in_float) > __FLT_MIN__ || in_float != in_float)
            return nearest(in_float);
        return from(in_double, to_nearest);
    }
};

// What __half and __nv_bfloat16 have in common: conversions, all of them rounding to nearest or, to integers, to zero.
template <class Format> struct narrow_number {
    unsigned short __x;

    narrow_number() = default;
    SIM_INLINE narrow_number(float value) : __x(Format::nearest(value))
    {
    }
    SIM_INLINE narrow_number(double value) : __x(Format::from_double(value))
    {
    }
    SIM_INLINE narrow_number(short value) : __x(Format::nearest((float)value))
    {
    }
    SIM_INLINE narrow_number(unsigned short value) : __x(Format::nearest((float)value))
    {
    }
    SIM_INLINE narrow_number(int value) : __x(Format::from((double)value, to_nearest))
    {
    }
    SIM_INLINE narrow_number(unsigned int value) : __x(Format::from((double)value, to_nearest))
    {
    }
    SIM_INLINE narrow_number(long value) : __x(Format::from(wide_to_odd((long long)value), to_nearest))
    {
    }
    SIM_INLINE narrow_number(unsigned long value)
        : __x(Format::from(wide_to_odd((unsigned long long)value), to_nearest))
    {
    }
    SIM_INLINE narrow_number(long long value) : __x(Format::from(wide_to_odd(value), to_nearest))
    {
    }
    SIM_INLINE narrow_number(unsigned long long value) : __x(Format::from(wide_to_odd(value), to_nearest))
    {
    }

    SIM_INLINE operator float() const
    {
        return Format::value(__x);
    }
    SIM_INLINE operator bool() const
    {
        return (__x & 0x7fffu) != 0;
    }
#define SIM_NARROW_TO(type)                                                                                            \
    SIM_INLINE operator type() const                                                                                   \
    {                                                                                                                  \
        return integer_from<type>(Format::value(__x), to_zero,                                                         \
                                  sizeof(type) == sizeof(long long) ? top_bit<type>() : (type)0);                      \
    }
    SIM_NARROW_TO(char)
    SIM_NARROW_TO(signed char)
    SIM_NARROW_TO(unsigned char)
    SIM_NARROW_TO(short)
    SIM_NARROW_TO(unsigned short)
    SIM_NARROW_TO(int)
    SIM_NARROW_TO(unsigned int)
    SIM_NARROW_TO(long)
    SIM_NARROW_TO(unsigned long)
    SIM_NARROW_TO(long long)
    SIM_NARROW_TO(unsigned long long)
#undef SIM_NARROW_TO
};

template <class Number> SIM_INLINE Number number_of_bits(unsigned short bits)
{
    Number number;
    number.__x = bits;
    return number;
}
template <class Format> SIM_INLINE float value_of(narrow_number<Format> number)
{
    return Format::value(number.__x);
}
template <class Format> SIM_INLINE bool is_nan(narrow_number<Format> number)
{
    float value = value_of(number);
    return value != value;
}

} // namespace sim
