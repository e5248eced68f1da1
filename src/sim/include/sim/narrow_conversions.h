// The conversions of __half and __nv_bfloat16, whose names differ only by the type's: __float2half and
// __float2bfloat16,
// __half22float2 and __bfloat1622float2. Macros over the type T, its pair T2 and their names within function names.
#pragma once

#include "sim/intrinsics_convert.h"
#include "sim/narrow.h"
#include "sim/vector_types.h"

// The members of the class and of its pair.
#define SIM_NARROW_CLASS(T, Raw, Format)                                                                               \
    typedef struct __align__(2) Raw                                                                                    \
    {                                                                                                                  \
        unsigned short x;                                                                                              \
    }                                                                                                                  \
    Raw;                                                                                                               \
    struct __align__(2) T : sim::narrow_number<Format>                                                                 \
    {                                                                                                                  \
        typedef Format format;                                                                                         \
        T() = default;                                                                                                 \
        using sim::narrow_number<Format>::narrow_number;                                                               \
        SIM_INLINE T(const Raw &raw)                                                                                   \
        {                                                                                                              \
            __x = raw.x;                                                                                               \
        }                                                                                                              \
        template <class Other> SIM_INLINE explicit T(const sim::narrow_number<Other> &other)                           \
        {                                                                                                              \
            __x = Format::from(sim::value_of(other), sim::to_nearest);                                                 \
        }                                                                                                              \
        SIM_INLINE operator Raw() const                                                                                \
        {                                                                                                              \
            Raw raw = {__x};                                                                                           \
            return raw;                                                                                                \
        }                                                                                                              \
    };
#define SIM_NARROW_PAIR_CLASS(T, T2, Raw2)                                                                             \
    typedef struct __align__(4) Raw2                                                                                   \
    {                                                                                                                  \
        unsigned short x, y;                                                                                           \
    }                                                                                                                  \
    Raw2;                                                                                                              \
    struct __align__(4) T2                                                                                             \
    {                                                                                                                  \
        T x, y;                                                                                                        \
        T2() = default;                                                                                                \
        SIM_INLINE T2(const T &first, const T &second) : x(first), y(second)                                           \
        {                                                                                                              \
        }                                                                                                              \
        SIM_INLINE T2(const Raw2 &raw) : x(sim::number_of_bits<T>(raw.x)), y(sim::number_of_bits<T>(raw.y))            \
        {                                                                                                              \
        }                                                                                                              \
        SIM_INLINE operator Raw2() const                                                                               \
        {                                                                                                              \
            Raw2 raw = {x.__x, y.__x};                                                                                 \
            return raw;                                                                                                \
        }                                                                                                              \
    };

#define SIM_NARROW_FROM_INTEGER(T, stem, type, name, suffix, direction, exact)                                         \
    SIM_INLINE T __##name##2##stem##_##suffix(const type x)                                                            \
    {                                                                                                                  \
        return sim::number_of_bits<T>(T::format::from(exact, sim::direction));                                         \
    }
#define SIM_NARROW_TO_INTEGER(T, stem, type, name, suffix, direction)                                                  \
    SIM_INLINE type __##stem##2##name##_##suffix(const T x)                                                            \
    {                                                                                                                  \
        return sim::integer_from<type>(sim::value_of(x), sim::direction,                                               \
                                       sizeof(type) == sizeof(long long) ? sim::top_bit<type>() : (type)0);            \
    }
#define SIM_NARROW_INTEGER(T, stem, type, name, exact)                                                                 \
    SIM_NARROW_FROM_INTEGER(T, stem, type, name, rn, to_nearest, exact)                                                \
    SIM_NARROW_FROM_INTEGER(T, stem, type, name, rz, to_zero, exact)                                                   \
    SIM_NARROW_FROM_INTEGER(T, stem, type, name, ru, upwards, exact)                                                   \
    SIM_NARROW_FROM_INTEGER(T, stem, type, name, rd, downwards, exact)                                                 \
    SIM_NARROW_TO_INTEGER(T, stem, type, name, rn, to_nearest)                                                         \
    SIM_NARROW_TO_INTEGER(T, stem, type, name, rz, to_zero)                                                            \
    SIM_NARROW_TO_INTEGER(T, stem, type, name, ru, upwards)                                                            \
    SIM_NARROW_TO_INTEGER(T, stem, type, name, rd, downwards)

#define SIM_NARROW_FROM_FLOAT(T, stem, suffix, direction)                                                              \
    SIM_INLINE T __float2##stem##_##suffix(const float x)                                                              \
    {                                                                                                                  \
        return sim::number_of_bits<T>(T::format::from(x, sim::direction));                                             \
    }

#define SIM_NARROW_SINGLE_CONVERSIONS(T, stem)                                                                         \
    SIM_INLINE T __float2##stem(const float x)                                                                         \
    {                                                                                                                  \
        return T(x);                                                                                                   \
    }                                                                                                                  \
    SIM_INLINE T __float2##stem##_rn(const float x)                                                                    \
    {                                                                                                                  \
        return T(x);                                                                                                   \
    }                                                                                                                  \
    SIM_NARROW_FROM_FLOAT(T, stem, rz, to_zero)                                                                        \
    SIM_NARROW_FROM_FLOAT(T, stem, ru, upwards)                                                                        \
    SIM_NARROW_FROM_FLOAT(T, stem, rd, downwards)                                                                      \
    SIM_INLINE T __double2##stem(const double x)                                                                       \
    {                                                                                                                  \
        return T(x);                                                                                                   \
    }                                                                                                                  \
    SIM_INLINE float __##stem##2float(const T x)                                                                       \
    {                                                                                                                  \
        return sim::value_of(x);                                                                                       \
    }                                                                                                                  \
    SIM_NARROW_INTEGER(T, stem, short, short, (double)x)                                                               \
    SIM_NARROW_INTEGER(T, stem, unsigned short, ushort, (double)x)                                                     \
    SIM_NARROW_INTEGER(T, stem, int, int, (double)x)                                                                   \
    SIM_NARROW_INTEGER(T, stem, unsigned int, uint, (double)x)                                                         \
    SIM_NARROW_INTEGER(T, stem, long long, ll, sim::wide_to_odd(x))                                                    \
    SIM_NARROW_INTEGER(T, stem, unsigned long long, ull, sim::wide_to_odd(x))                                          \
    SIM_NARROW_TO_INTEGER(T, stem, signed char, char, rz, to_zero)                                                     \
    SIM_NARROW_TO_INTEGER(T, stem, unsigned char, uchar, rz, to_zero)                                                  \
    SIM_INLINE short __##stem##_as_short(const T x)                                                                    \
    {                                                                                                                  \
        return (short)x.__x;                                                                                           \
    }                                                                                                                  \
    SIM_INLINE unsigned short __##stem##_as_ushort(const T x)                                                          \
    {                                                                                                                  \
        return x.__x;                                                                                                  \
    }                                                                                                                  \
    SIM_INLINE T __short_as_##stem(const short x)                                                                      \
    {                                                                                                                  \
        return sim::number_of_bits<T>((unsigned short)x);                                                              \
    }                                                                                                                  \
    SIM_INLINE T __ushort_as_##stem(const unsigned short x)                                                            \
    {                                                                                                                  \
        return sim::number_of_bits<T>(x);                                                                              \
    }

#define SIM_NARROW_PAIR_CONVERSIONS(T, T2, stem, stem2)                                                                \
    SIM_INLINE T2 make_##stem2(const T x, const T y)                                                                   \
    {                                                                                                                  \
        return T2(x, y);                                                                                               \
    }                                                                                                                  \
    SIM_INLINE T2 __halves2##stem2(const T x, const T y)                                                               \
    {                                                                                                                  \
        return T2(x, y);                                                                                               \
    }                                                                                                                  \
    SIM_INLINE T2 __##stem##2##stem2(const T x)                                                                        \
    {                                                                                                                  \
        return T2(x, x);                                                                                               \
    }                                                                                                                  \
    SIM_INLINE T2 __float2##stem2##_rn(const float x)                                                                  \
    {                                                                                                                  \
        return T2(T(x), T(x));                                                                                         \
    }                                                                                                                  \
    SIM_INLINE T2 __floats2##stem2##_rn(const float x, const float y)                                                  \
    {                                                                                                                  \
        return T2(T(x), T(y));                                                                                         \
    }                                                                                                                  \
    SIM_INLINE T2 __float22##stem2##_rn(const float2 x)                                                                \
    {                                                                                                                  \
        return T2(T(x.x), T(x.y));                                                                                     \
    }                                                                                                                  \
    SIM_INLINE float2 __##stem2##2float2(const T2 x)                                                                   \
    {                                                                                                                  \
        return make_float2(sim::value_of(x.x), sim::value_of(x.y));                                                    \
    }                                                                                                                  \
    SIM_INLINE float __low2float(const T2 x)                                                                           \
    {                                                                                                                  \
        return sim::value_of(x.x);                                                                                     \
    }                                                                                                                  \
    SIM_INLINE float __high2float(const T2 x)                                                                          \
    {                                                                                                                  \
        return sim::value_of(x.y);                                                                                     \
    }                                                                                                                  \
    SIM_INLINE T __low2##stem(const T2 x)                                                                              \
    {                                                                                                                  \
        return x.x;                                                                                                    \
    }                                                                                                                  \
    SIM_INLINE T __high2##stem(const T2 x)                                                                             \
    {                                                                                                                  \
        return x.y;                                                                                                    \
    }                                                                                                                  \
    SIM_INLINE T2 __low2##stem2(const T2 x)                                                                            \
    {                                                                                                                  \
        return T2(x.x, x.x);                                                                                           \
    }                                                                                                                  \
    SIM_INLINE T2 __high2##stem2(const T2 x)                                                                           \
    {                                                                                                                  \
        return T2(x.y, x.y);                                                                                           \
    }                                                                                                                  \
    SIM_INLINE T2 __lows2##stem2(const T2 x, const T2 y)                                                               \
    {                                                                                                                  \
        return T2(x.x, y.x);                                                                                           \
    }                                                                                                                  \
    SIM_INLINE T2 __highs2##stem2(const T2 x, const T2 y)                                                              \
    {                                                                                                                  \
        return T2(x.y, y.y);                                                                                           \
    }                                                                                                                  \
    SIM_INLINE T2 __lowhigh2highlow(const T2 x)                                                                        \
    {                                                                                                                  \
        return T2(x.y, x.x);                                                                                           \
    }

#define SIM_NARROW_CONVERSIONS(T, T2, stem, stem2)                                                                     \
    SIM_NARROW_SINGLE_CONVERSIONS(T, stem)                                                                             \
    SIM_NARROW_PAIR_CONVERSIONS(T, T2, stem, stem2)
