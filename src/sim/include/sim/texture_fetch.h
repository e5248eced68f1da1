// Reading textures: point and linear filtering, the four address modes, normalised coordinates, element and
// normalised-float reads, with the hardware's 8 bits of fraction between texels, and levels of mipmaps. Surfaces are in
// surface_fetch.h.
#pragma once

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

// The bits of one channel. Copies of a fixed size only: another would be a call of memcpy, which counts as an access.
SIM_UNWATCHED inline int channel_bits(const char *from, int bits)
{
    int word = 0;
    unsigned short half = 0;
    if (bits == 8)
        return (unsigned char)*from;
    if (bits == 16)
        __builtin_memcpy(&half, from, sizeof half);
    else
        __builtin_memcpy(&word, from, sizeof word);
    return bits == 16 ? half : word;
}

// One channel of `bits` bits as a number. Integers of 32 bits keep their bits: they are told apart by the caller.
SIM_UNWATCHED inline float channel_value(const char *from, int bits, cudaChannelFormatKind kind, bool normalised)
{
    int wide = channel_bits(from, bits);
    if (kind == cudaChannelFormatKindFloat && bits == 16)
        return half_channel((unsigned short)wide);
    if (kind == cudaChannelFormatKindFloat || bits == 32) {
        float same;
        __builtin_memcpy(&same, &wide, sizeof same);
        return same;
    }
    if (kind == cudaChannelFormatKindSigned)
        wide = wide << (32 - bits) >> (32 - bits);
    if (!normalised)
        return (float)wide;
    float most = (float)((1u << (kind == cudaChannelFormatKindSigned ? bits - 1 : bits)) - 1),
          share = (float)wide / most;
    return share < -1 ? -1 : share;
}

SIM_UNWATCHED inline texel texel_read(const sim_texture *texture, const char *from)
{
    const cudaChannelFormatDesc &format = texture->format;
    const int bits[4] = {format.x, format.y, format.z, format.w};
    bool normalised = texture->description.readMode == cudaReadModeNormalizedFloat;
    texel read = {{0, 0, 0, 0}};
    for (int i = 0; i < 4 && bits[i] > 0; from += bits[i] / 8, i++)
        read.channel[i] = channel_value(from, bits[i], format.f, normalised);
    return read;
}

SIM_UNWATCHED inline int texture_index(const sim_texture *texture, int dimension, int index, int size)
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

// What one fetch reads: the texels at both ends of each axis, in the order x, y, z; NULL stands for the border's
// colour. An axis on which low and high are one texel has one end. The description lies in host memory, which kernels
// cannot reach, so all that reads it is the simulator's own; the texels' reads are announced between the two steps.
struct texture_samples {
    const sim_texture *texture; // NULL: no such texture
    int ends[3], count;
    float fraction[3];
    const char *at[8];
    size_t bytes;
};

struct texture_axis {
    int end[2], ends;
    float fraction; // of the way from one to the other
};

SIM_UNWATCHED inline texture_axis texture_one(int index)
{
    texture_axis place = {{index, index}, 1, 0};
    return place;
}

SIM_UNWATCHED inline texture_axis texture_place(const sim_texture *texture, int dimension, float at, int size)
{
    if (size <= 0)
        return texture_one(0);
    if (texture->description.normalizedCoords)
        at *= (float)size;
    if (texture->description.filterMode == cudaFilterModePoint)
        return texture_one(texture_index(texture, dimension, (int)floorf(at), size));
    float corner = floorf(at - 0.5f), fraction = floorf((at - 0.5f - corner) * 256.0f + 0.5f) / 256.0f;
    texture_axis place = {{texture_index(texture, dimension, (int)corner, size),
                           texture_index(texture, dimension, (int)corner + 1, size)},
                          fraction == 0 ? 1 : 2,
                          fraction};
    return place;
}

SIM_UNWATCHED inline const sim_texture *texture_live(unsigned long long object)
{
    const sim_texture *texture = reinterpret_cast<const sim_texture *>(object);
    return texture && texture->live ? texture : nullptr;
}

SIM_UNWATCHED inline texture_samples texture_samples_of(const sim_texture *texture, const texture_axis axis[3])
{
    texture_samples samples = {};
    samples.texture = texture;
    samples.bytes = (size_t)texture->element;
    for (int d = 0; d < 3; d++) {
        samples.ends[d] = axis[d].ends;
        samples.fraction[d] = axis[d].fraction;
    }
    for (int k = 0; k < axis[2].ends; k++)
        for (int j = 0; j < axis[1].ends; j++)
            for (int i = 0; i < axis[0].ends; i++) {
                int x = axis[0].end[i], y = axis[1].end[j], z = axis[2].end[k];
                bool outside = x == OUTSIDE || y == OUTSIDE || z == OUTSIDE;
                samples.at[samples.count++] = outside ? nullptr
                                                      : (const char *)texture->data + (size_t)z * texture->slice +
                                                            (size_t)y * texture->pitch + (size_t)x * samples.bytes;
            }
    return samples;
}

SIM_UNWATCHED SIM_NOINLINE inline texture_samples texture_at(unsigned long long object, float x, float y, float z)
{
    const sim_texture *texture = texture_live(object);
    if (!texture)
        return texture_samples();
    const texture_axis axis[3] = {texture_place(texture, 0, x, texture->width),
                                  texture_place(texture, 1, y, texture->height),
                                  texture_place(texture, 2, z, texture->depth)};
    return texture_samples_of(texture, axis);
}

// Layers are chosen, not mixed.
SIM_UNWATCHED SIM_NOINLINE inline texture_samples texture_at_layer(unsigned long long object, float x, float y,
                                                                   int layer)
{
    const sim_texture *texture = texture_live(object);
    if (!texture)
        return texture_samples();
    int most = texture->depth > 0 ? texture->depth - 1 : 0;
    const texture_axis axis[3] = {texture_place(texture, 0, x, texture->width),
                                  texture_place(texture, 1, y, texture->height),
                                  texture_one(layer < 0      ? 0
                                              : layer > most ? most
                                                             : layer)};
    return texture_samples_of(texture, axis);
}

// Texels by index without filter; outside of linear memory there are zeros.
SIM_UNWATCHED SIM_NOINLINE inline texture_samples texture_at_index(unsigned long long object, int index)
{
    const sim_texture *texture = texture_live(object);
    if (!texture)
        return texture_samples();
    const texture_axis axis[3] = {texture_one(index < 0 || index >= texture->width ? OUTSIDE : index), texture_one(0),
                                  texture_one(0)};
    return texture_samples_of(texture, axis);
}

// The texels mixed: along x first, then y, then z.
SIM_UNWATCHED SIM_NOINLINE inline texel texture_mix(const texture_samples &samples)
{
    texel value[8];
    for (int i = 0; i < samples.count; i++) {
        if (samples.at[i])
            value[i] = texel_read(samples.texture, samples.at[i]);
        else
            for (int c = 0; c < 4; c++)
                value[i].channel[c] = samples.texture->description.borderColor[c];
    }
    int count = samples.count;
    for (int d = 0; d < 3; d++) {
        if (samples.ends[d] == 1)
            continue;
        count /= 2;
        for (int i = 0; i < count; i++)
            for (int c = 0; c < 4; c++)
                value[i].channel[c] = value[2 * i].channel[c] +
                                      samples.fraction[d] * (value[2 * i + 1].channel[c] - value[2 * i].channel[c]);
    }
    texel mixed; // one by one: of a copied structure, clang 14 for x86_64 reads the second half as if it were aligned
    for (int c = 0; c < 4; c++)
        mixed.channel[c] = value[0].channel[c];
    return mixed;
}

SIM_INLINE texel texture_fetch(const texture_samples &samples)
{
    if (!samples.texture)
        sim_object_destroyed("texture");
    for (int i = 0; i < samples.count; i++)
        if (samples.at[i])
            SIM_TOUCH_TEXTURE(samples.at[i], samples.bytes);
    return texture_mix(samples);
}

// Which level of a mipmap, or between which two, a level of detail falls.
struct texture_level {
    const sim_texture *larger, *smaller;
    float fraction; // of the way from one to the other
};

SIM_UNWATCHED SIM_NOINLINE inline texture_level texture_level_of(unsigned long long object, float detail)
{
    texture_level found = {texture_live(object), nullptr, 0};
    if (!found.larger || !found.larger->next_level)
        return found;
    const cudaTextureDesc &description = found.larger->description;
    detail += description.mipmapLevelBias;
    detail = fminf(fmaxf(detail, description.minMipmapLevelClamp), description.maxMipmapLevelClamp);
    if (description.mipmapFilterMode == cudaFilterModePoint)
        detail = floorf(detail + 0.5f);
    for (; detail >= 1 && found.larger->next_level; detail--)
        found.larger = found.larger->next_level;
    found.smaller = found.larger->next_level;
    if (found.smaller && detail > 0)
        found.fraction = floorf(detail * 256.0f + 0.5f) / 256.0f;
    return found;
}

// The level of detail at which a step of one pixel, in either direction of the picture, is one texel.
SIM_UNWATCHED SIM_NOINLINE inline float texture_detail(unsigned long long object, float2 dx, float2 dy)
{
    const sim_texture *texture = texture_live(object);
    if (!texture)
        return 0;
    const float width = (float)texture->width, height = (float)texture->height;
    const float step = fmaxf(hypotf(dx.x * width, dx.y * height), hypotf(dy.x * width, dy.y * height));
    return step > 0 ? log2f(step) : 0;
}

// Sample: what a texture of one level reads.
template <class Sample> SIM_INLINE texel texture_fetch_at(unsigned long long object, float detail, Sample sample)
{
    const texture_level level = texture_level_of(object, detail);
    texel mixed = texture_fetch(sample(reinterpret_cast<unsigned long long>(level.larger)));
    if (level.fraction == 0)
        return mixed;
    const texel other = texture_fetch(sample(reinterpret_cast<unsigned long long>(level.smaller)));
    for (int c = 0; c < 4; c++)
        mixed.channel[c] += level.fraction * (other.channel[c] - mixed.channel[c]);
    return mixed;
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
} // namespace sim

// Each in two forms: the value returned, or stored through a pointer.
#define SIM_TEXTURE_FETCH(name, parameters, sample)                                                                    \
    template <class T> SIM_INLINE T name parameters                                                                    \
    {                                                                                                                  \
        return sim::texel_as<T>(sim::texture_fetch(sample));                                                           \
    }
#define SIM_ARGUMENTS(...) (cudaTextureObject_t object, __VA_ARGS__)
SIM_TEXTURE_FETCH(tex1Dfetch, SIM_ARGUMENTS(int x), sim::texture_at_index(object, x))
SIM_TEXTURE_FETCH(tex1D, SIM_ARGUMENTS(float x), sim::texture_at(object, x, 0, 0))
SIM_TEXTURE_FETCH(tex2D, SIM_ARGUMENTS(float x, float y), sim::texture_at(object, x, y, 0))
SIM_TEXTURE_FETCH(tex3D, SIM_ARGUMENTS(float x, float y, float z), sim::texture_at(object, x, y, z))
SIM_TEXTURE_FETCH(tex1DLayered, SIM_ARGUMENTS(float x, int layer), sim::texture_at_layer(object, x, 0, layer))
SIM_TEXTURE_FETCH(tex2DLayered, SIM_ARGUMENTS(float x, float y, int layer), sim::texture_at_layer(object, x, y, layer))
#undef SIM_ARGUMENTS
#undef SIM_TEXTURE_FETCH

template <class T> SIM_INLINE T tex1DLod(cudaTextureObject_t object, float x, float detail)
{
    return sim::texel_as<T>(sim::texture_fetch_at(
        object, detail, [=](unsigned long long level) { return sim::texture_at(level, x, 0, 0); }));
}
template <class T> SIM_INLINE T tex2DLod(cudaTextureObject_t object, float x, float y, float detail)
{
    return sim::texel_as<T>(sim::texture_fetch_at(
        object, detail, [=](unsigned long long level) { return sim::texture_at(level, x, y, 0); }));
}
template <class T> SIM_INLINE T tex3DLod(cudaTextureObject_t object, float x, float y, float z, float detail)
{
    return sim::texel_as<T>(sim::texture_fetch_at(
        object, detail, [=](unsigned long long level) { return sim::texture_at(level, x, y, z); }));
}
template <class T> SIM_INLINE T tex2DGrad(cudaTextureObject_t object, float x, float y, float2 dx, float2 dy)
{
    return tex2DLod<T>(object, x, y, sim::texture_detail(object, dx, dy));
}
template <class T> SIM_INLINE T tex2DLayeredLod(cudaTextureObject_t object, float x, float y, int layer, float detail)
{
    return sim::texel_as<T>(sim::texture_fetch_at(
        object, detail, [=](unsigned long long level) { return sim::texture_at_layer(level, x, y, layer); }));
}

template <class T, class... Coordinates>
SIM_INLINE void tex1Dfetch(T *to, cudaTextureObject_t object, Coordinates... at)
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
