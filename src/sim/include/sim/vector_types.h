// CUDA's vector types with its sizes and alignments, their make_ functions, and dim3. Plain C as well.
#pragma once

#include "sim/keywords.h"

#if defined(__cplusplus)
#define SIM_MAKE SIM_INLINE
#else
#define SIM_MAKE static SIM_INLINE __attribute__((unused))
#endif

#define SIM_VECTOR_1(type, name)                                                                                       \
    typedef struct name##1                                                                                             \
    {                                                                                                                  \
        type x;                                                                                                        \
    }                                                                                                                  \
    name##1;                                                                                                           \
    SIM_MAKE name##1 make_##name##1(type x)                                                                            \
    {                                                                                                                  \
        name##1 made = {x};                                                                                            \
        return made;                                                                                                   \
    }
#define SIM_VECTOR_2(type, name, alignment)                                                                            \
    typedef struct __align__(alignment) name##2                                                                        \
    {                                                                                                                  \
        type x, y;                                                                                                     \
    }                                                                                                                  \
    name##2;                                                                                                           \
    SIM_MAKE name##2 make_##name##2(type x, type y)                                                                    \
    {                                                                                                                  \
        name##2 made = {x, y};                                                                                         \
        return made;                                                                                                   \
    }
#define SIM_VECTOR_3(type, name)                                                                                       \
    typedef struct name##3                                                                                             \
    {                                                                                                                  \
        type x, y, z;                                                                                                  \
    }                                                                                                                  \
    name##3;                                                                                                           \
    SIM_MAKE name##3 make_##name##3(type x, type y, type z)                                                            \
    {                                                                                                                  \
        name##3 made = {x, y, z};                                                                                      \
        return made;                                                                                                   \
    }
#define SIM_VECTOR_4(type, name, alignment)                                                                            \
    typedef struct __align__(alignment) name                                                                           \
    {                                                                                                                  \
        type x, y, z, w;                                                                                               \
    }                                                                                                                  \
    name;                                                                                                              \
    SIM_MAKE name make_##name(type x, type y, type z, type w)                                                          \
    {                                                                                                                  \
        name made = {x, y, z, w};                                                                                      \
        return made;                                                                                                   \
    }
#define SIM_VECTORS(type, name, alignment_2, alignment_4)                                                              \
    SIM_VECTOR_1(type, name)                                                                                           \
    SIM_VECTOR_2(type, name, alignment_2)                                                                              \
    SIM_VECTOR_3(type, name)                                                                                           \
    SIM_VECTOR_4(type, name##4, alignment_4)
// Types of eight bytes: loads of 16 bytes are the widest on most chips, of 32 bytes on the newest, so both exist.
#define SIM_WIDE_VECTORS(type, name)                                                                                   \
    SIM_VECTORS(type, name, 16, 16)                                                                                    \
    SIM_VECTOR_4(type, name##4_16a, 16)                                                                                \
    SIM_VECTOR_4(type, name##4_32a, 32)

SIM_VECTORS(signed char, char, 2, 4)
SIM_VECTORS(unsigned char, uchar, 2, 4)
SIM_VECTORS(short, short, 4, 8)
SIM_VECTORS(unsigned short, ushort, 4, 8)
SIM_VECTORS(int, int, 8, 16)
SIM_VECTORS(unsigned int, uint, 8, 16)
SIM_VECTORS(float, float, 8, 16)
SIM_WIDE_VECTORS(long, long)
SIM_WIDE_VECTORS(unsigned long, ulong)
SIM_WIDE_VECTORS(long long, longlong)
SIM_WIDE_VECTORS(unsigned long long, ulonglong)
SIM_WIDE_VECTORS(double, double)

typedef struct dim3 {
    unsigned int x, y, z;
#if defined(__cplusplus)
    constexpr dim3(unsigned int width = 1, unsigned int height = 1, unsigned int depth = 1)
        : x(width), y(height), z(depth)
    {
    }
    constexpr dim3(uint3 size) : x(size.x), y(size.y), z(size.z)
    {
    }
    constexpr operator uint3() const
    {
        return uint3{x, y, z};
    }
#endif
} dim3;
