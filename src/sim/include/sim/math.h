// Mathematics that CUDA offers in the global namespace and the C library does not: min and max for every mix of types,
// reciprocal roots, functions of multiples of pi, norms. The rest of CUDA's functions are the C library's own.
#pragma once

#include <math.h>
#include <stdlib.h>

#include "sim/keywords.h"

// Of two types CUDA compares in the one that C's arithmetic would choose; floats as fmin and fmax do, which pass over
// NaN.
#define SIM_MIN_MAX(result, first, second)                                                                             \
    SIM_INLINE constexpr result min(const first a, const second b)                                                     \
    {                                                                                                                  \
        return (result)a < (result)b ? (result)a : (result)b;                                                          \
    }                                                                                                                  \
    SIM_INLINE constexpr result max(const first a, const second b)                                                     \
    {                                                                                                                  \
        return (result)a < (result)b ? (result)b : (result)a;                                                          \
    }
#define SIM_MIN_MAX_INTEGERS(type)                                                                                     \
    SIM_MIN_MAX(type, type, type)                                                                                      \
    SIM_MIN_MAX(unsigned type, unsigned type, unsigned type)                                                           \
    SIM_MIN_MAX(unsigned type, type, unsigned type)                                                                    \
    SIM_MIN_MAX(unsigned type, unsigned type, type)
SIM_MIN_MAX_INTEGERS(int)
SIM_MIN_MAX_INTEGERS(long)
SIM_MIN_MAX_INTEGERS(long long)

// The chips put -0 below 0; not every C library does.
namespace sim
{
template <class Float> SIM_INLINE Float lesser(Float a, Float b)
{
#if defined(__aarch64__)
    return sizeof(Float) == sizeof(float) ? (Float)__builtin_fminf((float)a, (float)b) : (Float)__builtin_fmin(a, b);
#else
    return a < b || b != b || (a == b && __builtin_signbit(a)) ? a : b;
#endif
}
template <class Float> SIM_INLINE Float greater(Float a, Float b)
{
#if defined(__aarch64__)
    return sizeof(Float) == sizeof(float) ? (Float)__builtin_fmaxf((float)a, (float)b) : (Float)__builtin_fmax(a, b);
#else
    return a > b || b != b || (a == b && !__builtin_signbit(a)) ? a : b;
#endif
}
} // namespace sim

#define SIM_MIN_MAX_FLOATS(result, first, second)                                                                      \
    SIM_INLINE result min(const first a, const second b)                                                               \
    {                                                                                                                  \
        return sim::lesser<result>(a, b);                                                                              \
    }                                                                                                                  \
    SIM_INLINE result max(const first a, const second b)                                                               \
    {                                                                                                                  \
        return sim::greater<result>(a, b);                                                                             \
    }
SIM_MIN_MAX_FLOATS(float, float, float)
SIM_MIN_MAX_FLOATS(double, double, double)
SIM_MIN_MAX_FLOATS(double, float, double)
SIM_MIN_MAX_FLOATS(double, double, float)

#define SIM_NAMED_MIN_MAX(type, prefix)                                                                                \
    SIM_INLINE constexpr type prefix##min(const type a, const type b)                                                  \
    {                                                                                                                  \
        return a < b ? a : b;                                                                                          \
    }                                                                                                                  \
    SIM_INLINE constexpr type prefix##max(const type a, const type b)                                                  \
    {                                                                                                                  \
        return a < b ? b : a;                                                                                          \
    }
SIM_NAMED_MIN_MAX(unsigned int, u)
SIM_NAMED_MIN_MAX(long long, ll)
SIM_NAMED_MIN_MAX(unsigned long long, ull)

// A function of one variable for double, its twin for float with f behind its name, and the overload for float.
#define SIM_FUNCTION_1(name, expression)                                                                               \
    SIM_INLINE double name(double x)                                                                                   \
    {                                                                                                                  \
        return expression;                                                                                             \
    }                                                                                                                  \
    SIM_INLINE float name##f(float value)                                                                              \
    {                                                                                                                  \
        double x = value;                                                                                              \
        return (float)(expression);                                                                                    \
    }                                                                                                                  \
    SIM_INLINE float name(float value)                                                                                 \
    {                                                                                                                  \
        return name##f(value);                                                                                         \
    }

namespace sim
{
const double pi = 3.14159265358979323846;

// sin(pi x) and cos(pi x): the whole turns are taken away exactly, before pi comes in.
inline double sine_of_half_turns(double x)
{
    if (!__builtin_isfinite(x))
        return __builtin_nan("");
    double turn = __builtin_fmod(x, 2.0), size = __builtin_fabs(turn);
    if (size == 0.0 || size == 1.0)
        return __builtin_copysign(0.0, x);
    double sign = 1.0;
    if (size > 1.0) {
        size = 2.0 - size;
        sign = -1.0;
    }
    if (size > 0.5)
        size = 1.0 - size;
    double sine = size > 0.25 ? ::cos(pi * (0.5 - size)) : ::sin(pi * size);
    return turn < 0 ? -sign * sine : sign * sine;
}

inline double cosine_of_half_turns(double x)
{
    if (!__builtin_isfinite(x))
        return __builtin_nan("");
    double size = __builtin_fabs(__builtin_fmod(x, 2.0));
    if (size > 1.0)
        size = 2.0 - size;
    if (size == 0.5)
        return 0.0;
    if (size < 0.25)
        return ::cos(pi * size);
    if (size > 0.75)
        return -::cos(pi * (1.0 - size));
    return ::sin(pi * (0.5 - size));
}
} // namespace sim

SIM_FUNCTION_1(rsqrt, 1.0 / ::sqrt(x))
SIM_FUNCTION_1(rcbrt, 1.0 / ::cbrt(x))
SIM_FUNCTION_1(sinpi, sim::sine_of_half_turns(x))
SIM_FUNCTION_1(cospi, sim::cosine_of_half_turns(x))

SIM_INLINE void sincospi(double x, double *sine, double *cosine)
{
    *sine = sinpi(x);
    *cosine = cospi(x);
}
SIM_INLINE void sincospif(float x, float *sine, float *cosine)
{
    *sine = sinpif(x);
    *cosine = cospif(x);
}
SIM_INLINE void sincospi(float x, float *sine, float *cosine)
{
    sincospif(x, sine, cosine);
}
// The C library's own would write where the watch does not see it. Not in std, so that macros can stand for them.
SIM_INLINE void sim_sincos(double x, double *sine, double *cosine)
{
    *sine = ::sin(x);
    *cosine = ::cos(x);
}
SIM_INLINE void sim_sincosf(float x, float *sine, float *cosine)
{
    *sine = ::sinf(x);
    *cosine = ::cosf(x);
}
SIM_INLINE void sim_sincos(float x, float *sine, float *cosine)
{
    sim_sincosf(x, sine, cosine);
}
#define sincos(x, sine, cosine)  sim_sincos(x, sine, cosine)
#define sincosf(x, sine, cosine) sim_sincosf(x, sine, cosine)
SIM_INLINE float exp10(float x)
{
    return ::exp10f(x);
}
SIM_INLINE float fdividef(float a, float b)
{
    return a / b;
}
SIM_INLINE double fdivide(double a, double b)
{
    return a / b;
}
SIM_INLINE float fdivide(float a, float b)
{
    return a / b;
}
SIM_INLINE float __saturatef(float x)
{
    return x >= 1.0f ? 1.0f : x > 0.0f ? x : 0.0f; // NaN becomes 0
}
SIM_INLINE float saturate(float x)
{
    return __saturatef(x);
}

// Bessel functions for float: those of the C library are for double.
SIM_INLINE float j0(float x)
{
    return ::j0f(x);
}
SIM_INLINE float j1(float x)
{
    return ::j1f(x);
}
SIM_INLINE float jn(int n, float x)
{
    return ::jnf(n, x);
}
SIM_INLINE float y0(float x)
{
    return ::y0f(x);
}
SIM_INLINE float y1(float x)
{
    return ::y1f(x);
}
SIM_INLINE float yn(int n, float x)
{
    return ::ynf(n, x);
}

// Norms, scaled by the largest element so that squares neither overflow nor vanish.
namespace sim
{
inline double norm_of(const double *elements, int count)
{
    double largest = 0.0, sum = 0.0;
    for (int i = 0; i < count; i++) {
        double size = __builtin_fabs(elements[i]);
        if (__builtin_isinf(size))
            return size;
        largest = size > largest || size != size ? size : largest;
    }
    if (largest == 0.0 || largest != largest)
        return largest;
    for (int i = 0; i < count; i++)
        sum += (elements[i] / largest) * (elements[i] / largest);
    return largest * ::sqrt(sum);
}
} // namespace sim

SIM_INLINE double norm3d(double a, double b, double c)
{
    const double elements[] = {a, b, c};
    return sim::norm_of(elements, 3);
}
SIM_INLINE double norm4d(double a, double b, double c, double d)
{
    const double elements[] = {a, b, c, d};
    return sim::norm_of(elements, 4);
}
SIM_INLINE float norm3df(float a, float b, float c)
{
    return (float)::sqrt((double)a * a + (double)b * b + (double)c * c);
}
SIM_INLINE float norm4df(float a, float b, float c, float d)
{
    return (float)::sqrt((double)a * a + (double)b * b + (double)c * c + (double)d * d);
}
SIM_INLINE double rnorm3d(double a, double b, double c)
{
    return 1.0 / norm3d(a, b, c);
}
SIM_INLINE double rnorm4d(double a, double b, double c, double d)
{
    return 1.0 / norm4d(a, b, c, d);
}
SIM_INLINE float rnorm3df(float a, float b, float c)
{
    return (float)(1.0 / ::sqrt((double)a * a + (double)b * b + (double)c * c));
}
SIM_INLINE float rnorm4df(float a, float b, float c, float d)
{
    return (float)(1.0 / ::sqrt((double)a * a + (double)b * b + (double)c * c + (double)d * d));
}
SIM_INLINE double rhypot(double a, double b)
{
    return 1.0 / ::hypot(a, b);
}
SIM_INLINE float rhypotf(float a, float b)
{
    return (float)(1.0 / ::hypot((double)a, (double)b));
}
SIM_INLINE float rhypot(float a, float b)
{
    return rhypotf(a, b);
}
SIM_INLINE double norm(int count, const double *elements)
{
    return sim::norm_of(elements, count);
}
SIM_INLINE double rnorm(int count, const double *elements)
{
    return 1.0 / sim::norm_of(elements, count);
}
SIM_INLINE float normf(int count, const float *elements)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += (double)elements[i] * elements[i];
    return (float)::sqrt(sum);
}
SIM_INLINE float rnormf(int count, const float *elements)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += (double)elements[i] * elements[i];
    return (float)(1.0 / ::sqrt(sum));
}
