// Reading and writing surfaces: x is in bytes; outside, the boundary mode decides: stop the kernel (CUDA's default),
// the nearest element, or nothing.
#pragma once

#include "sim/memory_access.h"
#include "sim/texture_fetch.h"

namespace sim
{
// Where an element lies; NULL: outside. `known` says whether there is such a surface.
SIM_UNWATCHED SIM_NOINLINE inline char *surface_place(cudaSurfaceObject_t object, int x, int y, int z,
                                                      cudaSurfaceBoundaryMode mode, bool *known)
{
    const sim_texture *surface = texture_live(object);
    *known = surface != nullptr;
    if (!surface)
        return nullptr;
    int last_x = (surface->width - 1) * surface->element, last_y = surface->height > 0 ? surface->height - 1 : 0;
    int last_z = surface->depth > 0 ? surface->depth - 1 : 0;
    bool outside = x < 0 || x > last_x || y < 0 || y > last_y || z < 0 || z > last_z;
    if (outside && mode != cudaBoundaryModeClamp)
        return nullptr;
    x = x < 0 ? 0 : x > last_x ? last_x : x;
    y = y < 0 ? 0 : y > last_y ? last_y : y;
    z = z < 0 ? 0 : z > last_z ? last_z : z;
    return (char *)const_cast<void *>(surface->data) + (size_t)z * surface->slice + (size_t)y * surface->pitch + x;
}

SIM_INLINE char *surface_checked(cudaSurfaceObject_t object, int x, int y, int z, cudaSurfaceBoundaryMode mode)
{
    bool known;
    char *place = surface_place(object, x, y, z, mode, &known);
    if (!known)
        sim_object_destroyed("surface");
    if (!place && mode == cudaBoundaryModeTrap)
        sim_surface_outside(x, y, z);
    return place;
}

template <class T>
SIM_INLINE T surface_read(cudaSurfaceObject_t object, int x, int y, int z, cudaSurfaceBoundaryMode mode)
{
    SIM_MARK_READ_ONLY();
    T value{};
    const char *from = surface_checked(object, x, y, z, mode);
    if (from)
        value = *reinterpret_cast<const T *>(from);
    return value;
}

template <class T>
SIM_INLINE void surface_write(T value, cudaSurfaceObject_t object, int x, int y, int z, cudaSurfaceBoundaryMode mode)
{
    char *to = surface_checked(object, x, y, z, mode);
    if (to)
        *reinterpret_cast<T *>(to) = value;
}
} // namespace sim

#define SIM_SURFACE(name, X, Y, Z, ...)                                                                                \
    template <class T>                                                                                                 \
    SIM_INLINE T name##read(cudaSurfaceObject_t object, __VA_ARGS__,                                                   \
                            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                                       \
    {                                                                                                                  \
        return sim::surface_read<T>(object, X, Y, Z, mode);                                                            \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    SIM_INLINE void name##read(T *to, cudaSurfaceObject_t object, __VA_ARGS__,                                         \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                                    \
    {                                                                                                                  \
        *to = sim::surface_read<T>(object, X, Y, Z, mode);                                                             \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    SIM_INLINE void name##write(T value, cudaSurfaceObject_t object, __VA_ARGS__,                                      \
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                                   \
    {                                                                                                                  \
        sim::surface_write<T>(value, object, X, Y, Z, mode);                                                           \
    }
SIM_SURFACE(surf1D, x, 0, 0, int x)
SIM_SURFACE(surf2D, x, y, 0, int x, int y)
SIM_SURFACE(surf3D, x, y, z, int x, int y, int z)
SIM_SURFACE(surf1DLayered, x, 0, layer, int x, int layer)
SIM_SURFACE(surf2DLayered, x, y, layer, int x, int y, int layer)
#undef SIM_SURFACE
