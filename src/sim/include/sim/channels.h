// How an element of a texture, surface or array is made up: which C++ type has which channels.
#pragma once

#include "sim/keywords.h"
#include "sim/runtime_types.h"
#include "sim/vector_types.h"

namespace sim
{
// Scalars by default; vectors below. `widened`: what a normalised read of it gives.
template <class T> struct channels {
    typedef T component;
    typedef float widened;
    static constexpr int count = 1;
    SIM_INLINE static T make(const T *values)
    {
        return values[0];
    }
};

#define SIM_CHANNELS(T, C)                                                                                             \
    template <> struct channels<T##1> {                                                                                \
        typedef C component;                                                                                           \
        typedef float1 widened;                                                                                        \
        static constexpr int count = 1;                                                                                \
        SIM_INLINE static T##1 make(const C *values)                                                                   \
        {                                                                                                              \
            return make_##T##1(values[0]);                                                                             \
        }                                                                                                              \
    };                                                                                                                 \
    template <> struct channels<T##2> {                                                                                \
        typedef C component;                                                                                           \
        typedef float2 widened;                                                                                        \
        static constexpr int count = 2;                                                                                \
        SIM_INLINE static T##2 make(const C *values)                                                                   \
        {                                                                                                              \
            return make_##T##2(values[0], values[1]);                                                                  \
        }                                                                                                              \
    };                                                                                                                 \
    template <> struct channels<T##4> {                                                                                \
        typedef C component;                                                                                           \
        typedef float4 widened;                                                                                        \
        static constexpr int count = 4;                                                                                \
        SIM_INLINE static T##4 make(const C *values)                                                                   \
        {                                                                                                              \
            return make_##T##4(values[0], values[1], values[2], values[3]);                                            \
        }                                                                                                              \
    };
SIM_CHANNELS(char, signed char)
SIM_CHANNELS(uchar, unsigned char)
SIM_CHANNELS(short, short)
SIM_CHANNELS(ushort, unsigned short)
SIM_CHANNELS(int, int)
SIM_CHANNELS(uint, unsigned int)
SIM_CHANNELS(float, float)
#undef SIM_CHANNELS

template <class T> struct is_float_channel {
    static constexpr bool value = false;
};
template <> struct is_float_channel<float> {
    static constexpr bool value = true;
};
} // namespace sim

// The description of an array of T.
template <class T> SIM_INLINE cudaChannelFormatDesc cudaCreateChannelDesc()
{
    typedef typename sim::channels<T>::component component;
    const int bits = 8 * (int)sizeof(component), count = sim::channels<T>::count;
    cudaChannelFormatDesc format;
    format.x = bits;
    format.y = count > 1 ? bits : 0;
    format.z = count > 2 ? bits : 0;
    format.w = count > 3 ? bits : 0;
    format.f = sim::is_float_channel<component>::value ? cudaChannelFormatKindFloat
               : (component)-1 < (component)0          ? cudaChannelFormatKindSigned
                                                       : cudaChannelFormatKindUnsigned;
    return format;
}

SIM_INLINE cudaChannelFormatDesc cudaCreateChannelDescHalf()
{
    cudaChannelFormatDesc format = {16, 0, 0, 0, cudaChannelFormatKindFloat};
    return format;
}
SIM_INLINE cudaChannelFormatDesc cudaCreateChannelDescHalf1()
{
    return cudaCreateChannelDescHalf();
}
SIM_INLINE cudaChannelFormatDesc cudaCreateChannelDescHalf2()
{
    cudaChannelFormatDesc format = {16, 16, 0, 0, cudaChannelFormatKindFloat};
    return format;
}
SIM_INLINE cudaChannelFormatDesc cudaCreateChannelDescHalf4()
{
    cudaChannelFormatDesc format = {16, 16, 16, 16, cudaChannelFormatKindFloat};
    return format;
}
