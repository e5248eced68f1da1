// Reading cube maps, whose face and place a direction chooses, and the four texels of a bilinear fetch one by one
// (tex2Dgather). Everything else about textures is in texture_fetch.h.
#pragma once

#include "sim/texture_fetch.h"

namespace sim
{
enum : int { CUBE_FACES = 6 };

// A place of a face, from 0 to 1, as a coordinate of this texture; faces do not mix with their neighbours.
SIM_UNWATCHED inline float cube_coordinate(const sim_texture *texture, float share)
{
    float size = (float)texture->width, at = share * size;
    at = at < 0.5f ? 0.5f : at > size - 0.5f ? size - 0.5f : at;
    return texture->description.normalizedCoords ? at / size : at;
}

SIM_UNWATCHED SIM_NOINLINE inline texture_samples texture_at_cube(unsigned long long object, float x, float y, float z,
                                                                  int layer)
{
    const sim_texture *texture = texture_live(object);
    if (!texture)
        return texture_samples();
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z), most, s, t;
    int face;
    if (ax >= ay && ax >= az) {
        face = x < 0 ? 1 : 0;
        most = ax;
        s = x < 0 ? z : -z;
        t = -y;
    } else if (ay >= az) {
        face = y < 0 ? 3 : 2;
        most = ay;
        s = x;
        t = y < 0 ? -z : z;
    } else {
        face = z < 0 ? 5 : 4;
        most = az;
        s = z < 0 ? -x : x;
        t = -y;
    }
    return texture_at_layer(object, cube_coordinate(texture, (s / most + 1) / 2),
                            cube_coordinate(texture, (t / most + 1) / 2), layer * CUBE_FACES + face);
}

// Both ends of both axes, whatever the filter.
SIM_UNWATCHED SIM_NOINLINE inline texture_samples texture_at_corners(unsigned long long object, float x, float y)
{
    const sim_texture *texture = texture_live(object);
    if (!texture)
        return texture_samples();
    const int size[2] = {texture->width, texture->height};
    float at[2] = {x, y};
    texture_axis axis[3] = {texture_one(0), texture_one(0), texture_one(0)};
    for (int d = 0; d < 2; d++) {
        if (texture->description.normalizedCoords)
            at[d] *= (float)size[d];
        int corner = (int)floorf(at[d] - 0.5f);
        axis[d].end[0] = texture_index(texture, d, corner, size[d]);
        axis[d].end[1] = texture_index(texture, d, corner + 1, size[d]);
        axis[d].ends = 2;
    }
    return texture_samples_of(texture, axis);
}

SIM_UNWATCHED SIM_NOINLINE inline float texture_corner(const texture_samples &samples, int corner, int component)
{
    return samples.at[corner] ? texel_read(samples.texture, samples.at[corner]).channel[component]
                              : samples.texture->description.borderColor[component];
}

// From the lower left corner on, against the clock.
SIM_INLINE texel texture_gather(const texture_samples &samples, int component)
{
    static_cast<void>(texture_fetch(samples)); // announces all four
    const int order[4] = {2, 3, 1, 0};
    texel read;
    for (int i = 0; i < 4; i++)
        read.channel[i] = texture_corner(samples, order[i], component & 3);
    return read;
}
} // namespace sim

template <class T> SIM_INLINE T texCubemap(cudaTextureObject_t object, float x, float y, float z)
{
    return sim::texel_as<T>(sim::texture_fetch(sim::texture_at_cube(object, x, y, z, 0)));
}
template <class T> SIM_INLINE T texCubemapLayered(cudaTextureObject_t object, float x, float y, float z, int layer)
{
    return sim::texel_as<T>(sim::texture_fetch(sim::texture_at_cube(object, x, y, z, layer)));
}
template <class T> SIM_INLINE T texCubemapLod(cudaTextureObject_t object, float x, float y, float z, float detail)
{
    return sim::texel_as<T>(sim::texture_fetch_at(
        object, detail, [=](unsigned long long level) { return sim::texture_at_cube(level, x, y, z, 0); }));
}
template <class T> SIM_INLINE T tex2Dgather(cudaTextureObject_t object, float x, float y, int component = 0)
{
    return sim::texel_as<T>(sim::texture_gather(sim::texture_at_corners(object, x, y), component));
}
template <class T> SIM_INLINE void texCubemap(T *to, cudaTextureObject_t object, float x, float y, float z)
{
    *to = texCubemap<T>(object, x, y, z);
}
template <class T> SIM_INLINE void tex2Dgather(T *to, cudaTextureObject_t object, float x, float y, int component = 0)
{
    *to = tex2Dgather<T>(object, x, y, component);
}
