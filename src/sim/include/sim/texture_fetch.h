// Reading textures: point and linear filtering, the four address modes, normalised coordinates, element and
// normalised-float reads, with the hardware's 8 bits of fraction between texels. Mipmaps are read at level 0. Surfaces are
// in surface_fetch.h, texture references of CUDA 11 and before in texture_reference.h.
#ifndef SIM_TEXTURE_FETCH_H
#define SIM_TEXTURE_FETCH_H

#include <math.h>

#include "sim/channels.h"
#include "sim/library.h"
#include "sim/texture.h"

namespace sim
{
struct texel {
    float channel[4];
};

// How a coordinate fell: the index of a texel, or outside.
enum : int { OUTSIDE = -1 };

SIM_UNWATCHED inline float half_channel(unsigned short bits)
{
    unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    float value = exponent == 0    ? ldexpf((float)fraction, -24)
                  : exponent == 31 ? (fraction ? NAN : INFINITY)
                                   : ldexpf((float)(fraction + 1024), (int)exponent - 25);
    return bits & 0x8000 ? -value : value;
}

// One channel of `bits` bits as a number. Integers of 32 bits keep their bits: they are told apart by the caller.
SIM_UNWATCHED inline float channel_value(const char *from, int bits, cudaChannelFormatKind kind, bool normalised)
{
    if (kind == cudaChannelFormatKindFloat) {
        float value;
        unsigned short half;
        __builtin_memcpy(bits == 16 ? (void *)&half : (void *)&value, from, (size_t)bits / 8);
        return bits == 16 ? half_channel(half) : value;
    }
    int wide = 0;
    __builtin_memcpy(&wide, from, (size_t)bits / 8);
    if (bits == 32) {
        float same;
        __builtin_memcpy(&same, &wide, sizeof same);
        return same;
    }
    if (kind == cudaChannelFormatKindSigned)
        wide = wide << (32 - bits) >> (32 - bits);
    if (!normalised)
        return (float)wide;
    float most = (float)((1u << (kind == cudaChannelFormatKindSigned ? bits - 1 : bits)) - 1), share = (float)wide / most;
    return share < -1 ? -1 : share;
}

SIM_UNWATCHED SIM_NOINLINE inline texel texel_read(const sim_texture *texture, const char *from)
{
    const cudaChannelFormatDesc &format = texture->format;
    const int bits[4] = {format.x, format.y, format.z, format.w};
    bool normalised = texture->description.readMode == cudaReadModeNormalizedFloat;
    texel read = {{0, 0, 0, 0}};
    for (int i = 0; i < 4 && bits[i] > 0; from += bits[i] / 8, i++)
        read.channel[i] = channel_value(from, bits[i], format.f, normalised);
    return read;
}

SIM_UNWATCHED SIM_NOINLINE inline int texture_index(const sim_texture *texture, int dimension, int index, int size)
{
    cudaTextureAddressMode mode = texture->description.addressMode[dimension];
    if (!texture->description.normalizedCoords && mode != cudaAddressModeBorder)
        mode = cudaAddressModeClamp; // wrapping and mirroring are only for normalised coordinates
    if (mode == cudaAddressModeBorder)
        return index < 0 || index >= size ? OUTSIDE : index;
    if (mode == cudaAddressModeWrap)
        return (index % size + size) % size;
    if (mode == cudaAddressModeMirror) {
        int within = (index % (2 * size) + 2 * size) % (2 * size);
        return within < size ? within : 2 * size - 1 - within;
    }
    return index < 0 ? 0 : index >= size ? size - 1 : index;
}

// The texel at an index in each dimension; its read is announced.
SIM_INLINE texel texel_at(const sim_texture *texture, int x, int y, int z)
{
    if (x == OUTSIDE || y == OUTSIDE || z == OUTSIDE) {
        const float *border = texture->description.borderColor;
        texel outside = {{border[0], border[1], border[2], border[3]}};
        return outside;
    }
    const char *from = (const char *)texture->data + (size_t)z * texture->slice + (size_t)y * texture->pitch +
                       (size_t)x * (size_t)texture->element;
    SIM_TOUCH(from, (size_t)texture->element, 0);
    return texel_read(texture, from);
}

struct texture_axis {
    int low, high;  // texels on both sides
    float fraction; // of the way from low to high
};

SIM_UNWATCHED SIM_NOINLINE inline texture_axis texture_place(const sim_texture *texture, int dimension, float at, int size)
{
    texture_axis place = {0, 0, 0};
    if (size <= 0)
        return place;
    if (texture->description.normalizedCoords)
        at *= (float)size;
    if (texture->description.filterMode == cudaFilterModePoint) {
        place.low = place.high = texture_index(texture, dimension, (int)floorf(at), size);
        return place;
    }
    float corner = floorf(at - 0.5f);
    place.fraction = floorf((at - 0.5f - corner) * 256.0f + 0.5f) / 256.0f;
    place.low = texture_index(texture, dimension, (int)corner, size);
    place.high = texture_index(texture, dimension, (int)corner + 1, size);
    return place;
}

SIM_INLINE texel texel_mix(texel a, texel b, float fraction)
{
    for (int i = 0; i < 4; i++)
        a.channel[i] += fraction * (b.channel[i] - a.channel[i]);
    return a;
}

SIM_INLINE texel texture_row(const sim_texture *texture, texture_axis x, int y, int z)
{
    texel low = texel_at(texture, x.low, y, z);
    return x.fraction == 0 ? low : texel_mix(low, texel_at(texture, x.high, y, z), x.fraction);
}

SIM_INLINE texel texture_plane(const sim_texture *texture, texture_axis x, texture_axis y, int z)
{
    texel low = texture_row(texture, x, y.low, z);
    return y.fraction == 0 ? low : texel_mix(low, texture_row(texture, x, y.high, z), y.fraction);
}

SIM_INLINE texel texture_sample(const sim_texture *texture, float x, float y, float z)
{
    texture_axis place_x = texture_place(texture, 0, x, texture->width);
    texture_axis place_y = texture_place(texture, 1, y, texture->height);
    texture_axis place_z = texture_place(texture, 2, z, texture->depth);
    texel low = texture_plane(texture, place_x, place_y, place_z.low);
    return place_z.fraction == 0 ? low
                                 : texel_mix(low, texture_plane(texture, place_x, place_y, place_z.high), place_z.fraction);
}

// Layers are chosen, not mixed.
SIM_INLINE texel texture_layer(const sim_texture *texture, float x, float y, int layer)
{
    int most = texture->depth > 0 ? texture->depth - 1 : 0;
    return texture_plane(texture, texture_place(texture, 0, x, texture->width),
                         texture_place(texture, 1, y, texture->height), layer < 0 ? 0 : layer > most ? most : layer);
}

// Texels by index without filter; outside of linear memory there are zeros.
SIM_INLINE texel texture_element(const sim_texture *texture, int index)
{
    texel nothing = {{0, 0, 0, 0}};
    return index < 0 || index >= texture->width ? nothing : texel_at(texture, index, 0, 0);
}

template <class C> struct channel_as {
    SIM_INLINE static C of(float value)
    {
        return (C)value;
    }
};
template <> struct channel_as<int> {
    SIM_INLINE static int of(float value)
    {
        int same;
        __builtin_memcpy(&same, &value, sizeof same);
        return same;
    }
};
template <> struct channel_as<unsigned> {
    SIM_INLINE static unsigned of(float value)
    {
        return (unsigned)channel_as<int>::of(value);
    }
};

template <class T> SIM_INLINE T texel_as(texel read)
{
    typedef typename channels<T>::component component;
    component values[4];
    for (int i = 0; i < 4; i++)
        values[i] = channel_as<component>::of(read.channel[i]);
    return channels<T>::make(values);
}

SIM_INLINE const sim_texture *texture_of(cudaTextureObject_t object)
{
    const sim_texture *texture = reinterpret_cast<const sim_texture *>(object);
    if (!texture || !texture->live)
        sim_unsupported("a texture or surface object that was never made or is destroyed", "cudaCreateTextureObject");
    return texture;
}
} // namespace sim

// Each in two forms: the value returned, or stored through a pointer.
#define SIM_TEXTURE_FETCH(name, parameters, sample)                                                                    \
    template <class T> SIM_INLINE T name parameters                                                                    \
    {                                                                                                                  \
        const sim_texture *texture = sim::texture_of(object);                                                          \
        return sim::texel_as<T>(sample);                                                                               \
    }
#define SIM_ARGUMENTS(...) (cudaTextureObject_t object, __VA_ARGS__)
SIM_TEXTURE_FETCH(tex1Dfetch, SIM_ARGUMENTS(int x), sim::texture_element(texture, x))
SIM_TEXTURE_FETCH(tex1D, SIM_ARGUMENTS(float x), sim::texture_sample(texture, x, 0, 0))
SIM_TEXTURE_FETCH(tex2D, SIM_ARGUMENTS(float x, float y), sim::texture_sample(texture, x, y, 0))
SIM_TEXTURE_FETCH(tex3D, SIM_ARGUMENTS(float x, float y, float z), sim::texture_sample(texture, x, y, z))
SIM_TEXTURE_FETCH(tex1DLod, SIM_ARGUMENTS(float x, float), sim::texture_sample(texture, x, 0, 0))
SIM_TEXTURE_FETCH(tex2DLod, SIM_ARGUMENTS(float x, float y, float), sim::texture_sample(texture, x, y, 0))
SIM_TEXTURE_FETCH(tex3DLod, SIM_ARGUMENTS(float x, float y, float z, float), sim::texture_sample(texture, x, y, z))
SIM_TEXTURE_FETCH(tex2DGrad, SIM_ARGUMENTS(float x, float y, float2, float2), sim::texture_sample(texture, x, y, 0))
SIM_TEXTURE_FETCH(tex1DLayered, SIM_ARGUMENTS(float x, int layer), sim::texture_layer(texture, x, 0, layer))
SIM_TEXTURE_FETCH(tex2DLayered, SIM_ARGUMENTS(float x, float y, int layer), sim::texture_layer(texture, x, y, layer))
#undef SIM_ARGUMENTS
#undef SIM_TEXTURE_FETCH

template <class T, class... Coordinates> SIM_INLINE void tex1Dfetch(T *to, cudaTextureObject_t object, Coordinates... at)
{
    *to = tex1Dfetch<T>(object, at...);
}
template <class T> SIM_INLINE void tex1D(T *to, cudaTextureObject_t object, float x)
{
    *to = tex1D<T>(object, x);
}
template <class T> SIM_INLINE void tex2D(T *to, cudaTextureObject_t object, float x, float y)
{
    *to = tex2D<T>(object, x, y);
}
template <class T> SIM_INLINE void tex3D(T *to, cudaTextureObject_t object, float x, float y, float z)
{
    *to = tex3D<T>(object, x, y, z);
}
template <class T> SIM_INLINE void tex2DLayered(T *to, cudaTextureObject_t object, float x, float y, int layer)
{
    *to = tex2DLayered<T>(object, x, y, layer);
}

#endif
