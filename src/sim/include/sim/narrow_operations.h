// Arithmetic, comparisons and functions that CUDA gives under one name to __half and __nv_bfloat16 and to their pairs.
// A macro over the two types, because overloads must not be templates: arguments convert as they do in CUDA.
#pragma once

#include "sim/atomics.h"
#include "sim/narrow.h"
#include "sim/warp.h"

namespace sim
{
template <class Number> SIM_INLINE Number fused(Number a, Number b, Number c)
{
    typedef typename Number::format format;
    return number_of_bits<Number>(format::from(fused_to_odd(value_of(a), value_of(b), value_of(c)), to_nearest));
}
template <class Number> SIM_INLINE Number clamped_to_one(Number number)
{
    return Number(__builtin_fminf(__builtin_fmaxf(value_of(number), 0.0f), 1.0f)); // NaN becomes 0
}
template <class Number> SIM_INLINE Number without_negative(Number number)
{
    if (is_nan(number))
        return number_of_bits<Number>(narrow_nan);
    return value_of(number) < 0.0f || number.__x == 0x8000u ? number_of_bits<Number>(0) : number;
}
// -0 is less than 0; a NaN gives way to the other, or to none with `keep`.
template <class Number> SIM_INLINE Number larger_or_smaller(Number a, Number b, bool larger, bool keep)
{
    if (is_nan(a) || is_nan(b)) {
        bool neither = keep || (is_nan(a) && is_nan(b));
        return neither ? number_of_bits<Number>(narrow_nan) : is_nan(a) ? b : a;
    }
    float x = value_of(a), y = value_of(b);
    bool a_less = x < y || (x == y && __builtin_signbit(x) && !__builtin_signbit(y));
    return a_less == larger ? b : a;
}
} // namespace sim

#define SIM_NARROW_ARITHMETIC(T, name, sign)                                                                           \
    SIM_INLINE T __h##name(const T a, const T b)                                                                       \
    {                                                                                                                  \
        const float x = sim::value_of(a), y = sim::value_of(b);                                                        \
        return sim::number_of_bits<T>(T::format::from_operation(x sign y, (double)x sign(double) y));                  \
    }                                                                                                                  \
    SIM_INLINE T operator sign(const T &a, const T &b)                                                                 \
    {                                                                                                                  \
        return __h##name(a, b);                                                                                        \
    }                                                                                                                  \
    SIM_INLINE T &operator sign##=(T &a, const T &b)                                                                   \
    {                                                                                                                  \
        a = __h##name(a, b);                                                                                           \
        return a;                                                                                                      \
    }

#define SIM_NARROW_ARITHMETIC_FORMS(T, name)                                                                           \
    SIM_INLINE T __h##name##_rn(const T a, const T b)                                                                  \
    {                                                                                                                  \
        return __h##name(a, b);                                                                                        \
    }                                                                                                                  \
    SIM_INLINE T __h##name##_sat(const T a, const T b)                                                                 \
    {                                                                                                                  \
        return sim::clamped_to_one(__h##name(a, b));                                                                   \
    }

#define SIM_NARROW_COMPARE(T, name, sign)                                                                              \
    SIM_INLINE bool __h##name(const T a, const T b)                                                                    \
    {                                                                                                                  \
        return !sim::is_nan(a) && !sim::is_nan(b) && sim::value_of(a) sign sim::value_of(b);                           \
    }                                                                                                                  \
    SIM_INLINE bool __h##name##u(const T a, const T b)                                                                 \
    {                                                                                                                  \
        return sim::is_nan(a) || sim::is_nan(b) || sim::value_of(a) sign sim::value_of(b);                             \
    }                                                                                                                  \
    SIM_INLINE bool operator sign(const T &a, const T &b)                                                              \
    {                                                                                                                  \
        return sim::value_of(a) sign sim::value_of(b);                                                                 \
    }

#define SIM_NARROW_FUNCTION(T, name, function)                                                                         \
    SIM_INLINE T name(const T a)                                                                                       \
    {                                                                                                                  \
        const float x = sim::value_of(a);                                                                              \
        return T((float)(function));                                                                                   \
    }

// One number.
#define SIM_NARROW_SINGLE(T)                                                                                           \
    SIM_NARROW_ARITHMETIC(T, add, +)                                                                                   \
    SIM_NARROW_ARITHMETIC(T, sub, -)                                                                                   \
    SIM_NARROW_ARITHMETIC(T, mul, *)                                                                                   \
    SIM_NARROW_ARITHMETIC(T, div, /)                                                                                   \
    SIM_NARROW_ARITHMETIC_FORMS(T, add)                                                                                \
    SIM_NARROW_ARITHMETIC_FORMS(T, sub)                                                                                \
    SIM_NARROW_ARITHMETIC_FORMS(T, mul)                                                                                \
    SIM_NARROW_COMPARE(T, eq, ==)                                                                                      \
    SIM_NARROW_COMPARE(T, ne, !=)                                                                                      \
    SIM_NARROW_COMPARE(T, le, <=)                                                                                      \
    SIM_NARROW_COMPARE(T, ge, >=)                                                                                      \
    SIM_NARROW_COMPARE(T, lt, <)                                                                                       \
    SIM_NARROW_COMPARE(T, gt, >)                                                                                       \
    SIM_INLINE T __hfma(const T a, const T b, const T c)                                                               \
    {                                                                                                                  \
        return sim::fused(a, b, c);                                                                                    \
    }                                                                                                                  \
    SIM_INLINE T __hfma_sat(const T a, const T b, const T c)                                                           \
    {                                                                                                                  \
        return sim::clamped_to_one(sim::fused(a, b, c));                                                               \
    }                                                                                                                  \
    SIM_INLINE T __hfma_relu(const T a, const T b, const T c)                                                          \
    {                                                                                                                  \
        return sim::without_negative(sim::fused(a, b, c));                                                             \
    }                                                                                                                  \
    SIM_INLINE T __hneg(const T a)                                                                                     \
    {                                                                                                                  \
        return sim::number_of_bits<T>(sim::is_nan(a) ? sim::narrow_nan : (unsigned short)(a.__x ^ 0x8000u));           \
    }                                                                                                                  \
    SIM_INLINE T __habs(const T a)                                                                                     \
    {                                                                                                                  \
        return sim::number_of_bits<T>(sim::is_nan(a) ? sim::narrow_nan : (unsigned short)(a.__x & 0x7fffu));           \
    }                                                                                                                  \
    SIM_INLINE T __hmax(const T a, const T b)                                                                          \
    {                                                                                                                  \
        return sim::larger_or_smaller(a, b, true, false);                                                              \
    }                                                                                                                  \
    SIM_INLINE T __hmin(const T a, const T b)                                                                          \
    {                                                                                                                  \
        return sim::larger_or_smaller(a, b, false, false);                                                             \
    }                                                                                                                  \
    SIM_INLINE T __hmax_nan(const T a, const T b)                                                                      \
    {                                                                                                                  \
        return sim::larger_or_smaller(a, b, true, true);                                                               \
    }                                                                                                                  \
    SIM_INLINE T __hmin_nan(const T a, const T b)                                                                      \
    {                                                                                                                  \
        return sim::larger_or_smaller(a, b, false, true);                                                              \
    }                                                                                                                  \
    SIM_INLINE bool __hisnan(const T a)                                                                                \
    {                                                                                                                  \
        return sim::is_nan(a);                                                                                         \
    }                                                                                                                  \
    SIM_INLINE int __hisinf(const T a)                                                                                 \
    {                                                                                                                  \
        const float x = sim::value_of(a);                                                                              \
        return !__builtin_isinf(x) ? 0 : x > 0.0f ? 1 : -1;                                                            \
    }                                                                                                                  \
    SIM_INLINE T operator+(const T &a)                                                                                 \
    {                                                                                                                  \
        return a;                                                                                                      \
    }                                                                                                                  \
    SIM_INLINE T operator-(const T &a)                                                                                 \
    {                                                                                                                  \
        return __hneg(a);                                                                                              \
    }                                                                                                                  \
    SIM_INLINE T &operator++(T &a)                                                                                     \
    {                                                                                                                  \
        return a += T(1.0f);                                                                                           \
    }                                                                                                                  \
    SIM_INLINE T &operator--(T &a)                                                                                     \
    {                                                                                                                  \
        return a -= T(1.0f);                                                                                           \
    }                                                                                                                  \
    SIM_INLINE T operator++(T &a, const int)                                                                           \
    {                                                                                                                  \
        const T before = a;                                                                                            \
        ++a;                                                                                                           \
        return before;                                                                                                 \
    }                                                                                                                  \
    SIM_INLINE T operator--(T &a, const int)                                                                           \
    {                                                                                                                  \
        const T before = a;                                                                                            \
        --a;                                                                                                           \
        return before;                                                                                                 \
    }

// Functions of one number, and the same on both numbers of a pair.
#define SIM_NARROW_FUNCTION_BOTH(T, T2, name, function)                                                                \
    SIM_NARROW_FUNCTION(T, h##name, function)                                                                          \
    SIM_INLINE T2 h2##name(const T2 a)                                                                                 \
    {                                                                                                                  \
        return T2(h##name(a.x), h##name(a.y));                                                                         \
    }
#define SIM_NARROW_FUNCTIONS(T, T2)                                                                                    \
    SIM_NARROW_FUNCTION_BOTH(T, T2, trunc, ::truncf(x))                                                                \
    SIM_NARROW_FUNCTION_BOTH(T, T2, ceil, ::ceilf(x))                                                                  \
    SIM_NARROW_FUNCTION_BOTH(T, T2, floor, ::floorf(x))                                                                \
    SIM_NARROW_FUNCTION_BOTH(T, T2, rint, ::rintf(x))                                                                  \
    SIM_NARROW_FUNCTION_BOTH(T, T2, sqrt, ::sqrtf(x))                                                                  \
    SIM_NARROW_FUNCTION_BOTH(T, T2, rsqrt, 1.0 / ::sqrt((double)x))                                                    \
    SIM_NARROW_FUNCTION_BOTH(T, T2, rcp, 1.0f / x)                                                                     \
    SIM_NARROW_FUNCTION_BOTH(T, T2, log, ::logf(x))                                                                    \
    SIM_NARROW_FUNCTION_BOTH(T, T2, log2, ::log2f(x))                                                                  \
    SIM_NARROW_FUNCTION_BOTH(T, T2, log10, ::log10f(x))                                                                \
    SIM_NARROW_FUNCTION_BOTH(T, T2, exp, ::expf(x))                                                                    \
    SIM_NARROW_FUNCTION_BOTH(T, T2, exp2, ::exp2f(x))                                                                  \
    SIM_NARROW_FUNCTION_BOTH(T, T2, exp10, ::exp10f(x))                                                                \
    SIM_NARROW_FUNCTION_BOTH(T, T2, sin, ::sinf(x))                                                                    \
    SIM_NARROW_FUNCTION_BOTH(T, T2, cos, ::cosf(x))                                                                    \
    SIM_NARROW_FUNCTION_BOTH(T, T2, tanh, ::tanhf(x))                                                                  \
    SIM_NARROW_FUNCTION_BOTH(T, T2, tanh_approx, ::tanhf(x))

#define SIM_NARROW_PAIR_OF_TWO(T2, pair, single)                                                                       \
    SIM_INLINE T2 pair(const T2 a, const T2 b)                                                                         \
    {                                                                                                                  \
        return T2(single(a.x, b.x), single(a.y, b.y));                                                                 \
    }
#define SIM_NARROW_PAIR_OF_THREE(T2, pair, single)                                                                     \
    SIM_INLINE T2 pair(const T2 a, const T2 b, const T2 c)                                                             \
    {                                                                                                                  \
        return T2(single(a.x, b.x, c.x), single(a.y, b.y, c.y));                                                       \
    }
#define SIM_NARROW_PAIR_ARITHMETIC(T2, pair, single, sign)                                                             \
    SIM_NARROW_PAIR_OF_TWO(T2, pair, single)                                                                           \
    SIM_INLINE T2 operator sign(const T2 &a, const T2 &b)                                                              \
    {                                                                                                                  \
        return pair(a, b);                                                                                             \
    }                                                                                                                  \
    SIM_INLINE T2 &operator sign##=(T2 &a, const T2 &b)                                                                \
    {                                                                                                                  \
        a = pair(a, b);                                                                                                \
        return a;                                                                                                      \
    }
#define SIM_NARROW_PAIR_COMPARE(T, T2, name)                                                                           \
    SIM_INLINE T2 __h##name##2(const T2 a, const T2 b)                                                                 \
    {                                                                                                                  \
        return T2(T(__h##name(a.x, b.x) ? 1.0f : 0.0f), T(__h##name(a.y, b.y) ? 1.0f : 0.0f));                         \
    }                                                                                                                  \
    SIM_INLINE unsigned int __h##name##2_mask(const T2 a, const T2 b)                                                  \
    {                                                                                                                  \
        return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);                        \
    }                                                                                                                  \
    SIM_INLINE bool __hb##name##2(const T2 a, const T2 b)                                                              \
    {                                                                                                                  \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                                             \
    }
#define SIM_NARROW_PAIR_COMPARE_BOTH(T, T2, name)                                                                      \
    SIM_NARROW_PAIR_COMPARE(T, T2, name)                                                                               \
    SIM_NARROW_PAIR_COMPARE(T, T2, name##u)
#define SIM_NARROW_PAIR_OPERATOR(T2, sign, comparison)                                                                 \
    SIM_INLINE bool operator sign(const T2 &a, const T2 &b)                                                            \
    {                                                                                                                  \
        return comparison(a, b);                                                                                       \
    }

// A pair.
#define SIM_NARROW_PAIR(T, T2)                                                                                         \
    SIM_NARROW_PAIR_ARITHMETIC(T2, __hadd2, __hadd, +)                                                                 \
    SIM_NARROW_PAIR_ARITHMETIC(T2, __hsub2, __hsub, -)                                                                 \
    SIM_NARROW_PAIR_ARITHMETIC(T2, __hmul2, __hmul, *)                                                                 \
    SIM_NARROW_PAIR_ARITHMETIC(T2, __h2div, __hdiv, /)                                                                 \
    SIM_NARROW_PAIR_OF_TWO(T2, __hadd2_rn, __hadd)                                                                     \
    SIM_NARROW_PAIR_OF_TWO(T2, __hsub2_rn, __hsub)                                                                     \
    SIM_NARROW_PAIR_OF_TWO(T2, __hmul2_rn, __hmul)                                                                     \
    SIM_NARROW_PAIR_OF_TWO(T2, __hadd2_sat, __hadd_sat)                                                                \
    SIM_NARROW_PAIR_OF_TWO(T2, __hsub2_sat, __hsub_sat)                                                                \
    SIM_NARROW_PAIR_OF_TWO(T2, __hmul2_sat, __hmul_sat)                                                                \
    SIM_NARROW_PAIR_OF_TWO(T2, __hmax2, __hmax)                                                                        \
    SIM_NARROW_PAIR_OF_TWO(T2, __hmin2, __hmin)                                                                        \
    SIM_NARROW_PAIR_OF_TWO(T2, __hmax2_nan, __hmax_nan)                                                                \
    SIM_NARROW_PAIR_OF_TWO(T2, __hmin2_nan, __hmin_nan)                                                                \
    SIM_NARROW_PAIR_OF_THREE(T2, __hfma2, __hfma)                                                                      \
    SIM_NARROW_PAIR_OF_THREE(T2, __hfma2_sat, __hfma_sat)                                                              \
    SIM_NARROW_PAIR_OF_THREE(T2, __hfma2_relu, __hfma_relu)                                                            \
    SIM_NARROW_PAIR_COMPARE_BOTH(T, T2, eq)                                                                            \
    SIM_NARROW_PAIR_COMPARE_BOTH(T, T2, ne)                                                                            \
    SIM_NARROW_PAIR_COMPARE_BOTH(T, T2, le)                                                                            \
    SIM_NARROW_PAIR_COMPARE_BOTH(T, T2, ge)                                                                            \
    SIM_NARROW_PAIR_COMPARE_BOTH(T, T2, lt)                                                                            \
    SIM_NARROW_PAIR_COMPARE_BOTH(T, T2, gt)                                                                            \
    SIM_NARROW_PAIR_OPERATOR(T2, ==, __hbeq2)                                                                          \
    SIM_NARROW_PAIR_OPERATOR(T2, !=, __hbneu2)                                                                         \
    SIM_NARROW_PAIR_OPERATOR(T2, <=, __hble2)                                                                          \
    SIM_NARROW_PAIR_OPERATOR(T2, >=, __hbge2)                                                                          \
    SIM_NARROW_PAIR_OPERATOR(T2, <, __hblt2)                                                                           \
    SIM_NARROW_PAIR_OPERATOR(T2, >, __hbgt2)                                                                           \
    SIM_INLINE T2 __hisnan2(const T2 a)                                                                                \
    {                                                                                                                  \
        return T2(T(__hisnan(a.x) ? 1.0f : 0.0f), T(__hisnan(a.y) ? 1.0f : 0.0f));                                     \
    }                                                                                                                  \
    SIM_INLINE T2 __hneg2(const T2 a)                                                                                  \
    {                                                                                                                  \
        return T2(__hneg(a.x), __hneg(a.y));                                                                           \
    }                                                                                                                  \
    SIM_INLINE T2 __habs2(const T2 a)                                                                                  \
    {                                                                                                                  \
        return T2(__habs(a.x), __habs(a.y));                                                                           \
    }                                                                                                                  \
    SIM_INLINE T2 __hcmadd(const T2 a, const T2 b, const T2 c)                                                         \
    {                                                                                                                  \
        const T real = __hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x));                                                \
        const T imaginary = __hfma(a.y, b.x, __hfma(a.x, b.y, c.y));                                                   \
        return T2(real, imaginary);                                                                                    \
    }                                                                                                                  \
    SIM_INLINE T2 operator+(const T2 &a)                                                                               \
    {                                                                                                                  \
        return a;                                                                                                      \
    }                                                                                                                  \
    SIM_INLINE T2 operator-(const T2 &a)                                                                               \
    {                                                                                                                  \
        return __hneg2(a);                                                                                             \
    }                                                                                                                  \
    SIM_INLINE T2 &operator++(T2 &a)                                                                                   \
    {                                                                                                                  \
        return a += T2(T(1.0f), T(1.0f));                                                                              \
    }                                                                                                                  \
    SIM_INLINE T2 &operator--(T2 &a)                                                                                   \
    {                                                                                                                  \
        return a -= T2(T(1.0f), T(1.0f));                                                                              \
    }                                                                                                                  \
    SIM_INLINE T2 operator++(T2 &a, const int)                                                                         \
    {                                                                                                                  \
        const T2 before = a;                                                                                           \
        ++a;                                                                                                           \
        return before;                                                                                                 \
    }                                                                                                                  \
    SIM_INLINE T2 operator--(T2 &a, const int)                                                                         \
    {                                                                                                                  \
        const T2 before = a;                                                                                           \
        --a;                                                                                                           \
        return before;                                                                                                 \
    }

#define SIM_NARROW_OPERATIONS(T, T2)                                                                                   \
    SIM_NARROW_SINGLE(T)                                                                                               \
    SIM_NARROW_FUNCTIONS(T, T2)                                                                                        \
    SIM_NARROW_PAIR(T, T2)                                                                                             \
    SIM_SHUFFLES(T)                                                                                                    \
    SIM_SHUFFLES(T2)                                                                                                   \
    SIM_ATOMIC(T, atomicAdd, combine_add)                                                                              \
    SIM_ATOMIC(T2, atomicAdd, combine_add)
