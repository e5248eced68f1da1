// One value seen as another type's bits.
#pragma once

#include <stdint.h>

#include "sim/keywords.h"

namespace sim
{

template <class To, class From> SIM_INLINE To bits_as(From from)
{
    static_assert(sizeof(To) == sizeof(From), "the same number of bytes");
    To to;
    __builtin_memcpy(&to, &from, sizeof(To));
    return to;
}

// Values of up to eight bytes travel between lanes in 64 bits.
template <class Type> SIM_INLINE uint64_t widened(Type value)
{
    static_assert(sizeof(Type) <= sizeof(uint64_t), "at most eight bytes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(Type));
    return bits;
}
template <class Type> SIM_INLINE Type narrowed(uint64_t bits)
{
    Type value;
    __builtin_memcpy(&value, &bits, sizeof(Type));
    return value;
}

// A value that the compiler knows nothing about, so that it cannot fuse the product behind it into a sum.
#if defined(__aarch64__)
#define SIM_IN_FLOAT_REGISTER "+w"
#elif defined(__x86_64__)
#define SIM_IN_FLOAT_REGISTER "+x"
#else
#define SIM_IN_FLOAT_REGISTER "+m"
#endif
template <class Type> SIM_INLINE Type opaque(Type value)
{
    asm("" : SIM_IN_FLOAT_REGISTER(value));
    return value;
}

// A function's parameter that takes no part in deducing its type.
template <class Type> struct plain {
    typedef Type type;
};

} // namespace sim
