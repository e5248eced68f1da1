// CUDA's conversions between floating point and integers with a named rounding. Values out of range become the nearest
// the type has; NaN becomes 0, or the top bit alone where a double or a 64-bit integer is involved, as on the chips.
#pragma once

#include <limits.h>

#include "sim/rounding.h"

namespace sim
{

// ldexp(1, the number of bits of Integer below its sign): the first value that is too large.
template <class Integer> SIM_INLINE constexpr double beyond()
{
    return (Integer)-1 < (Integer)1 ? (double)((unsigned long long)1 << (8 * sizeof(Integer) - 1))
                                    : 2.0 * (double)((unsigned long long)1 << (8 * sizeof(Integer) - 1));
}

template <class Integer> SIM_INLINE constexpr Integer highest_of()
{
    return (Integer)-1 < (Integer)1 ? (Integer)(((unsigned long long)1 << (8 * sizeof(Integer) - 1)) - 1) : (Integer)-1;
}
template <class Integer> SIM_INLINE constexpr Integer lowest_of()
{
    return (Integer)-1 < (Integer)1 ? (Integer)(-highest_of<Integer>() - 1) : (Integer)0;
}

SIM_INLINE double integral(double value, rounding direction)
{
    switch (direction) {
    case to_zero: return __builtin_trunc(value);
    case upwards: return __builtin_ceil(value);
    case downwards: return __builtin_floor(value);
    default: return __builtin_rint(value);
    }
}

template <class Integer> SIM_INLINE Integer integer_from(double value, rounding direction, Integer not_a_number)
{
    if (value != value)
        return not_a_number;
    double whole = integral(value, direction);
    if (whole >= beyond<Integer>())
        return highest_of<Integer>();
    if (whole <= (double)lowest_of<Integer>())
        return lowest_of<Integer>();
    return (Integer)whole;
}

template <class Integer> SIM_INLINE constexpr Integer top_bit()
{
    return (Integer)((unsigned long long)1 << (8 * sizeof(Integer) - 1));
}

// The double that stands for a 64-bit integer rounded to odd: rounds on to float as the integer itself would.
SIM_INLINE double wide_to_odd(unsigned long long size)
{
    if (size >> 53 == 0)
        return (double)size;
    int dropped = 11 - __builtin_clzll(size); // bits below the 53 that a double holds
    unsigned long long kept = size >> dropped;
    if (kept << dropped != size)
        kept |= 1;
    return (double)kept * (double)((unsigned long long)1 << dropped);
}
SIM_INLINE double wide_to_odd(long long value)
{
    return value < 0 ? -wide_to_odd(0ull - (unsigned long long)value) : wide_to_odd((unsigned long long)value);
}

SIM_INLINE double double_from(unsigned long long size, rounding direction)
{
    int dropped = size >> 53 == 0 ? 0 : 11 - __builtin_clzll(size);
    unsigned long long unit = (unsigned long long)1 << dropped, rest = size & (unit - 1), kept = size - rest;
    double down = (double)(kept >> dropped) * (double)unit;
    if (rest == 0 || direction == to_zero || direction == downwards)
        return down;
    bool up = direction == upwards || rest > unit / 2 || (rest == unit / 2 && (kept >> dropped & 1) != 0);
    return up ? down + (double)unit : down;
}
SIM_INLINE double double_from(long long value, rounding direction)
{
    if (value >= 0)
        return double_from((unsigned long long)value, direction);
    rounding mirrored = direction == upwards ? downwards : direction == downwards ? upwards : direction;
    return -double_from(0ull - (unsigned long long)value, mirrored);
}

} // namespace sim

#define SIM_CONVERT(suffix, direction)                                                                                 \
    SIM_INLINE int __float2int_##suffix(float x)                                                                       \
    {                                                                                                                  \
        return sim::integer_from<int>(x, sim::direction, 0);                                                           \
    }                                                                                                                  \
    SIM_INLINE unsigned int __float2uint_##suffix(float x)                                                             \
    {                                                                                                                  \
        return sim::integer_from<unsigned int>(x, sim::direction, 0);                                                  \
    }                                                                                                                  \
    SIM_INLINE long long __float2ll_##suffix(float x)                                                                  \
    {                                                                                                                  \
        return sim::integer_from<long long>(x, sim::direction, sim::top_bit<long long>());                             \
    }                                                                                                                  \
    SIM_INLINE unsigned long long __float2ull_##suffix(float x)                                                        \
    {                                                                                                                  \
        return sim::integer_from<unsigned long long>(x, sim::direction, sim::top_bit<unsigned long long>());           \
    }                                                                                                                  \
    SIM_INLINE int __double2int_##suffix(double x)                                                                     \
    {                                                                                                                  \
        return sim::integer_from<int>(x, sim::direction, sim::top_bit<int>());                                         \
    }                                                                                                                  \
    SIM_INLINE unsigned int __double2uint_##suffix(double x)                                                           \
    {                                                                                                                  \
        return sim::integer_from<unsigned int>(x, sim::direction, sim::top_bit<unsigned int>());                       \
    }                                                                                                                  \
    SIM_INLINE long long __double2ll_##suffix(double x)                                                                \
    {                                                                                                                  \
        return sim::integer_from<long long>(x, sim::direction, sim::top_bit<long long>());                             \
    }                                                                                                                  \
    SIM_INLINE unsigned long long __double2ull_##suffix(double x)                                                      \
    {                                                                                                                  \
        return sim::integer_from<unsigned long long>(x, sim::direction, sim::top_bit<unsigned long long>());           \
    }                                                                                                                  \
    SIM_INLINE float __int2float_##suffix(int x)                                                                       \
    {                                                                                                                  \
        return sim::float_from((double)x, sim::direction);                                                             \
    }                                                                                                                  \
    SIM_INLINE float __uint2float_##suffix(unsigned int x)                                                             \
    {                                                                                                                  \
        return sim::float_from((double)x, sim::direction);                                                             \
    }                                                                                                                  \
    SIM_INLINE float __ll2float_##suffix(long long x)                                                                  \
    {                                                                                                                  \
        return sim::float_from(sim::wide_to_odd(x), sim::direction);                                                   \
    }                                                                                                                  \
    SIM_INLINE float __ull2float_##suffix(unsigned long long x)                                                        \
    {                                                                                                                  \
        return sim::float_from(sim::wide_to_odd(x), sim::direction);                                                   \
    }                                                                                                                  \
    SIM_INLINE double __ll2double_##suffix(long long x)                                                                \
    {                                                                                                                  \
        return sim::double_from(x, sim::direction);                                                                    \
    }                                                                                                                  \
    SIM_INLINE double __ull2double_##suffix(unsigned long long x)                                                      \
    {                                                                                                                  \
        return sim::double_from(x, sim::direction);                                                                    \
    }
SIM_CONVERT(rn, to_nearest)
SIM_CONVERT(rz, to_zero)
SIM_CONVERT(ru, upwards)
SIM_CONVERT(rd, downwards)
#undef SIM_CONVERT

SIM_INLINE double __int2double_rn(int x)
{
    return x;
}
SIM_INLINE double __uint2double_rn(unsigned int x)
{
    return x;
}
