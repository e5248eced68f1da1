// CUDA's floating-point intrinsics: arithmetic with a named rounding (_rn, _rz, _ru, _rd), fast functions, bit
// patterns. Fast functions give the C library's accurate results: a simulated program should not depend on a chip's
// last bits.
#pragma once

#include <math.h>

#include "sim/bits.h"
#include "sim/rounding.h"

// Rounding to nearest is what the processor does anyway. `opaque` keeps the compiler from fusing a product into a sum,
// which is what these names are called for.
#define SIM_NEAREST(type, letter, root)                                                                                \
    SIM_INLINE type __##letter##add_rn(type a, type b)                                                                 \
    {                                                                                                                  \
        return sim::opaque(a) + sim::opaque(b);                                                                        \
    }                                                                                                                  \
    SIM_INLINE type __##letter##sub_rn(type a, type b)                                                                 \
    {                                                                                                                  \
        return sim::opaque(a) - sim::opaque(b);                                                                        \
    }                                                                                                                  \
    SIM_INLINE type __##letter##mul_rn(type a, type b)                                                                 \
    {                                                                                                                  \
        return sim::opaque(a * b);                                                                                     \
    }                                                                                                                  \
    SIM_INLINE type __##letter##div_rn(type a, type b)                                                                 \
    {                                                                                                                  \
        return a / b;                                                                                                  \
    }                                                                                                                  \
    SIM_INLINE type __##letter##rcp_rn(type a)                                                                         \
    {                                                                                                                  \
        return 1 / a;                                                                                                  \
    }                                                                                                                  \
    SIM_INLINE type __##letter##sqrt_rn(type a)                                                                        \
    {                                                                                                                  \
        return ::root(a);                                                                                              \
    }
SIM_NEAREST(float, f, sqrtf)
SIM_NEAREST(double, d, sqrt)
#undef SIM_NEAREST

SIM_INLINE float __frsqrt_rn(float a)
{
    return (float)(1.0 / ::sqrt((double)a));
}
SIM_INLINE float __fmaf_rn(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
SIM_INLINE double __fma_rn(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}

#define SIM_DIRECTED_OF(type, letter, suffix, direction)                                                               \
    SIM_INLINE type __##letter##add_##suffix(type a, type b)                                                           \
    {                                                                                                                  \
        return sim::type##_sum(a, b, sim::direction);                                                                  \
    }                                                                                                                  \
    SIM_INLINE type __##letter##sub_##suffix(type a, type b)                                                           \
    {                                                                                                                  \
        return sim::type##_sum(a, -b, sim::direction);                                                                 \
    }                                                                                                                  \
    SIM_INLINE type __##letter##mul_##suffix(type a, type b)                                                           \
    {                                                                                                                  \
        return sim::type##_product(a, b, sim::direction);                                                              \
    }                                                                                                                  \
    SIM_INLINE type __##letter##div_##suffix(type a, type b)                                                           \
    {                                                                                                                  \
        return sim::type##_quotient(a, b, sim::direction);                                                             \
    }                                                                                                                  \
    SIM_INLINE type __##letter##rcp_##suffix(type a)                                                                   \
    {                                                                                                                  \
        return sim::type##_quotient(1, a, sim::direction);                                                             \
    }                                                                                                                  \
    SIM_INLINE type __##letter##sqrt_##suffix(type a)                                                                  \
    {                                                                                                                  \
        return sim::type##_root(a, sim::direction);                                                                    \
    }
#define SIM_DIRECTED(suffix, direction)                                                                                \
    SIM_DIRECTED_OF(float, f, suffix, direction)                                                                       \
    SIM_DIRECTED_OF(double, d, suffix, direction)                                                                      \
    SIM_INLINE float __fmaf_##suffix(float a, float b, float c)                                                        \
    {                                                                                                                  \
        return sim::float_sum((double)a * (double)b, c, sim::direction);                                               \
    }                                                                                                                  \
    SIM_INLINE double __fma_##suffix(double a, double b, double c)                                                     \
    {                                                                                                                  \
        return sim::double_fused(a, b, c, sim::direction);                                                             \
    }
SIM_DIRECTED(rz, to_zero)
SIM_DIRECTED(ru, upwards)
SIM_DIRECTED(rd, downwards)
#undef SIM_DIRECTED
#undef SIM_DIRECTED_OF

#define SIM_EVERY_DIRECTION(suffix, direction)                                                                         \
    SIM_INLINE float __fmaf_ieee_##suffix(float a, float b, float c)                                                   \
    {                                                                                                                  \
        return __fmaf_##suffix(a, b, c);                                                                               \
    }                                                                                                                  \
    SIM_INLINE float __double2float_##suffix(double a)                                                                 \
    {                                                                                                                  \
        return sim::float_from(a, sim::direction);                                                                     \
    }
SIM_EVERY_DIRECTION(rn, to_nearest)
SIM_EVERY_DIRECTION(rz, to_zero)
SIM_EVERY_DIRECTION(ru, upwards)
SIM_EVERY_DIRECTION(rd, downwards)
#undef SIM_EVERY_DIRECTION

// The C library declares most of these names for itself, as C functions that do not throw.
extern "C" {
SIM_INLINE float __expf(float x) noexcept
{
    return ::expf(x);
}
SIM_INLINE float __exp10f(float x) noexcept
{
    return ::exp10f(x);
}
SIM_INLINE float __logf(float x) noexcept
{
    return ::logf(x);
}
SIM_INLINE float __log2f(float x) noexcept
{
    return ::log2f(x);
}
SIM_INLINE float __log10f(float x) noexcept
{
    return ::log10f(x);
}
SIM_INLINE float __powf(float x, float y) noexcept
{
    return ::powf(x, y);
}
SIM_INLINE float __sinf(float x) noexcept
{
    return ::sinf(x);
}
SIM_INLINE float __cosf(float x) noexcept
{
    return ::cosf(x);
}
SIM_INLINE float __tanf(float x) noexcept
{
    return ::tanf(x);
}
SIM_INLINE float __tanhf(float x) noexcept
{
    return ::tanhf(x);
}
SIM_INLINE void __sincosf(float x, float *sine, float *cosine) noexcept
{
    *sine = ::sinf(x);
    *cosine = ::cosf(x);
}
}
SIM_INLINE float __fdividef(float a, float b)
{
    return a / b;
}

SIM_INLINE int __float_as_int(float x)
{
    return sim::bits_as<int>(x);
}
SIM_INLINE unsigned int __float_as_uint(float x)
{
    return sim::bits_as<unsigned int>(x);
}
SIM_INLINE float __int_as_float(int x)
{
    return sim::bits_as<float>(x);
}
SIM_INLINE float __uint_as_float(unsigned int x)
{
    return sim::bits_as<float>(x);
}
SIM_INLINE long long __double_as_longlong(double x)
{
    return sim::bits_as<long long>(x);
}
SIM_INLINE double __longlong_as_double(long long x)
{
    return sim::bits_as<double>(x);
}
SIM_INLINE int __double2hiint(double x)
{
    return (int)(sim::bits_as<uint64_t>(x) >> 32);
}
SIM_INLINE int __double2loint(double x)
{
    return (int)(uint32_t)sim::bits_as<uint64_t>(x);
}
SIM_INLINE double __hiloint2double(int high, int low)
{
    return sim::bits_as<double>((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
}
// Names of the same from before they had underscores.
SIM_INLINE int float_as_int(float x)
{
    return __float_as_int(x);
}
SIM_INLINE float int_as_float(int x)
{
    return __int_as_float(x);
}
SIM_INLINE unsigned int float_as_uint(float x)
{
    return __float_as_uint(x);
}
SIM_INLINE float uint_as_float(unsigned int x)
{
    return __uint_as_float(x);
}
