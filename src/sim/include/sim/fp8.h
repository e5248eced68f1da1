// Numbers of eight bits, e4m3 and e5m2, with CUDA's names: what <cuda_fp8.h> declares, without e8m0.
#pragma once

#include "sim/bfloat16.h"
#include "sim/half.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

namespace sim
{

// e5m2 is laid out as IEEE 754 would; e4m3 has no infinity, and the one pattern of all ones is its NaN.
SIM_INLINE __nv_fp8_storage_t fp8_bits(double value, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    const unsigned int nan = 0x7f, highest = kind == __NV_E4M3 ? 0x7e : 0x7b;
    const unsigned int beyond = kind == __NV_E4M3 ? nan : 0x7c;
    if (value != value)
        return nan;
    const unsigned int sign = __builtin_signbit(value) ? 0x80 : 0;
    uint64_t bits = highest + 1;
    if (!__builtin_isinf(value))
        bits = kind == __NV_E4M3 ? rounded_bits<4, 3>(value, to_nearest) : rounded_bits<5, 2>(value, to_nearest);
    if (bits > highest)
        bits = saturate == __NV_SATFINITE ? highest : beyond;
    return (__nv_fp8_storage_t)(sign | (unsigned int)bits);
}

SIM_INLINE float fp8_value(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t kind)
{
    if (kind == __NV_E5M2)
        return half_format::value((unsigned short)(bits << 8)); // a half without its last eight bits
    const unsigned int exponent = bits >> 3 & 15, mantissa = bits & 7;
    float size = exponent == 0           ? (float)mantissa / 512.0f
                 : (bits & 0x7f) == 0x7f ? __builtin_nanf("")
                                         : (float)(8 + mantissa) / 8.0f * bits_as<float>((exponent + 127 - 7) << 23);
    return bits & 0x80 ? -size : size;
}

template <class Pair>
SIM_INLINE __nv_fp8x2_storage_t fp8_pair(Pair low_high, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return (__nv_fp8x2_storage_t)(fp8_bits(low_high.y, saturate, kind) << 8 | fp8_bits(low_high.x, saturate, kind));
}

} // namespace sim

SIM_INLINE __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double x, const __nv_saturation_t saturate,
                                                     const __nv_fp8_interpretation_t kind)
{
    if (x == x)
        return sim::fp8_bits(x, saturate, kind);
    return (__nv_fp8_storage_t)(kind == __NV_E4M3 ? sim::narrow_bits_of_double<4, 3>(x) | 7
                                                  : sim::narrow_bits_of_double<5, 2>(x));
}
SIM_INLINE __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float x, const __nv_saturation_t saturate,
                                                    const __nv_fp8_interpretation_t kind)
{
    return sim::fp8_bits(x, saturate, kind);
}
SIM_INLINE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw x, const __nv_saturation_t saturate,
                                                      const __nv_fp8_interpretation_t kind)
{
    return sim::fp8_bits(sim::half_format::value(x.x), saturate, kind);
}
SIM_INLINE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw x, const __nv_saturation_t saturate,
                                                          const __nv_fp8_interpretation_t kind)
{
    return sim::fp8_bits(sim::bfloat_format::value(x.x), saturate, kind);
}
SIM_INLINE __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(const double2 x, const __nv_saturation_t saturate,
                                                          const __nv_fp8_interpretation_t kind)
{
    return sim::fp8_pair(x, saturate, kind);
}
SIM_INLINE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(const float2 x, const __nv_saturation_t saturate,
                                                         const __nv_fp8_interpretation_t kind)
{
    return sim::fp8_pair(x, saturate, kind);
}
SIM_INLINE __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(const __half2_raw x, const __nv_saturation_t saturate,
                                                           const __nv_fp8_interpretation_t kind)
{
    return sim::fp8_pair(__half22float2(x), saturate, kind);
}
SIM_INLINE __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(const __nv_bfloat162_raw x,
                                                               const __nv_saturation_t saturate,
                                                               const __nv_fp8_interpretation_t kind)
{
    return sim::fp8_pair(__bfloat1622float2(x), saturate, kind);
}
SIM_INLINE __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x, const __nv_fp8_interpretation_t kind)
{
    return __half(sim::fp8_value(x, kind));
}
SIM_INLINE __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x, const __nv_fp8_interpretation_t kind)
{
    return __floats2half2_rn(sim::fp8_value((__nv_fp8_storage_t)x, kind),
                             sim::fp8_value((__nv_fp8_storage_t)(x >> 8), kind));
}

// The classes: conversions in are explicit and stop at the largest number, as in CUDA; so are conversions out.
#define SIM_FP8_CLASSES(name, kind)                                                                                    \
    struct __nv_fp8_##name {                                                                                           \
        __nv_fp8_storage_t __x;                                                                                        \
        __nv_fp8_##name() = default;                                                                                   \
        template <class Number>                                                                                        \
        SIM_INLINE explicit __nv_fp8_##name(const Number x)                                                            \
            : __x(sim::fp8_bits((double)(float)x, __NV_SATFINITE, kind))                                               \
        {                                                                                                              \
        }                                                                                                              \
        SIM_INLINE explicit __nv_fp8_##name(const double x) : __x(sim::fp8_bits(x, __NV_SATFINITE, kind))              \
        {                                                                                                              \
        }                                                                                                              \
        SIM_INLINE explicit operator float() const                                                                     \
        {                                                                                                              \
            return sim::fp8_value(__x, kind);                                                                          \
        }                                                                                                              \
        SIM_INLINE explicit operator double() const                                                                    \
        {                                                                                                              \
            return sim::fp8_value(__x, kind);                                                                          \
        }                                                                                                              \
        SIM_INLINE explicit operator __half() const                                                                    \
        {                                                                                                              \
            return __half(sim::fp8_value(__x, kind));                                                                  \
        }                                                                                                              \
        SIM_INLINE explicit operator __nv_bfloat16() const                                                             \
        {                                                                                                              \
            return __nv_bfloat16(sim::fp8_value(__x, kind));                                                           \
        }                                                                                                              \
        SIM_INLINE explicit operator int() const                                                                       \
        {                                                                                                              \
            return (int)__half(sim::fp8_value(__x, kind));                                                             \
        }                                                                                                              \
        SIM_INLINE explicit operator bool() const                                                                      \
        {                                                                                                              \
            return (__x & 0x7f) != 0;                                                                                  \
        }                                                                                                              \
    };                                                                                                                 \
    struct __align__(2) __nv_fp8x2_##name                                                                              \
    {                                                                                                                  \
        __nv_fp8x2_storage_t __x;                                                                                      \
        __nv_fp8x2_##name() = default;                                                                                 \
        SIM_INLINE explicit __nv_fp8x2_##name(const float2 x) : __x(sim::fp8_pair(x, __NV_SATFINITE, kind))            \
        {                                                                                                              \
        }                                                                                                              \
        SIM_INLINE explicit __nv_fp8x2_##name(const double2 x) : __x(sim::fp8_pair(x, __NV_SATFINITE, kind))           \
        {                                                                                                              \
        }                                                                                                              \
        SIM_INLINE explicit __nv_fp8x2_##name(const __half2 x)                                                         \
            : __x(sim::fp8_pair(__half22float2(x), __NV_SATFINITE, kind))                                              \
        {                                                                                                              \
        }                                                                                                              \
        SIM_INLINE explicit __nv_fp8x2_##name(const __nv_bfloat162 x)                                                  \
            : __x(sim::fp8_pair(__bfloat1622float2(x), __NV_SATFINITE, kind))                                          \
        {                                                                                                              \
        }                                                                                                              \
        SIM_INLINE explicit operator float2() const                                                                    \
        {                                                                                                              \
            return make_float2(sim::fp8_value((__nv_fp8_storage_t)__x, kind),                                          \
                               sim::fp8_value((__nv_fp8_storage_t)(__x >> 8), kind));                                  \
        }                                                                                                              \
        SIM_INLINE explicit operator __half2() const                                                                   \
        {                                                                                                              \
            return __nv_cvt_fp8x2_to_halfraw2(__x, kind);                                                              \
        }                                                                                                              \
    };                                                                                                                 \
    struct __align__(4) __nv_fp8x4_##name                                                                              \
    {                                                                                                                  \
        __nv_fp8x4_storage_t __x;                                                                                      \
        __nv_fp8x4_##name() = default;                                                                                 \
        SIM_INLINE explicit __nv_fp8x4_##name(const float4 x)                                                          \
            : __x((__nv_fp8x4_storage_t)sim::fp8_pair(make_float2(x.z, x.w), __NV_SATFINITE, kind) << 16 |             \
                  sim::fp8_pair(make_float2(x.x, x.y), __NV_SATFINITE, kind))                                          \
        {                                                                                                              \
        }                                                                                                              \
        SIM_INLINE explicit __nv_fp8x4_##name(const __half2 low, const __half2 high)                                   \
            : __x((__nv_fp8x4_storage_t)sim::fp8_pair(__half22float2(high), __NV_SATFINITE, kind) << 16 |              \
                  sim::fp8_pair(__half22float2(low), __NV_SATFINITE, kind))                                            \
        {                                                                                                              \
        }                                                                                                              \
        SIM_INLINE explicit __nv_fp8x4_##name(const __nv_bfloat162 low, const __nv_bfloat162 high)                     \
            : __x((__nv_fp8x4_storage_t)sim::fp8_pair(__bfloat1622float2(high), __NV_SATFINITE, kind) << 16 |          \
                  sim::fp8_pair(__bfloat1622float2(low), __NV_SATFINITE, kind))                                        \
        {                                                                                                              \
        }                                                                                                              \
        SIM_INLINE explicit operator float4() const                                                                    \
        {                                                                                                              \
            return make_float4(sim::fp8_value((__nv_fp8_storage_t)__x, kind),                                          \
                               sim::fp8_value((__nv_fp8_storage_t)(__x >> 8), kind),                                   \
                               sim::fp8_value((__nv_fp8_storage_t)(__x >> 16), kind),                                  \
                               sim::fp8_value((__nv_fp8_storage_t)(__x >> 24), kind));                                 \
        }                                                                                                              \
    };
SIM_FP8_CLASSES(e4m3, __NV_E4M3)
SIM_FP8_CLASSES(e5m2, __NV_E5M2)
#undef SIM_FP8_CLASSES
