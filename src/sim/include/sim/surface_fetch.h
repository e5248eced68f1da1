// Reading and writing surfaces: x is in bytes; outside, the boundary mode decides: stop the kernel (CUDA's default), the
// nearest element, or nothing.
#ifndef SIM_SURFACE_FETCH_H
#define SIM_SURFACE_FETCH_H

#include "sim/texture_fetch.h"

namespace sim
{
SIM_UNWATCHED SIM_NOINLINE inline char *surface_place(const sim_texture *surface, size_t bytes, int x, int y, int z,
                                                      cudaSurfaceBoundaryMode mode, bool *outside)
{
    int last_x = (surface->width - 1) * surface->element, last_y = surface->height > 0 ? surface->height - 1 : 0;
    int last_z = surface->depth > 0 ? surface->depth - 1 : 0;
    (void)bytes;
    *outside = x < 0 || x > last_x || y < 0 || y > last_y || z < 0 || z > last_z;
    if (*outside && mode == cudaBoundaryModeClamp) {
        x = x < 0 ? 0 : x > last_x ? last_x : x;
        y = y < 0 ? 0 : y > last_y ? last_y : y;
        z = z < 0 ? 0 : z > last_z ? last_z : z;
        *outside = false;
    }
    return (char *)const_cast<void *>(surface->data) + (size_t)z * surface->slice + (size_t)y * surface->pitch + x;
}

template <class T>
SIM_INLINE T surface_read(cudaSurfaceObject_t object, int x, int y, int z, cudaSurfaceBoundaryMode mode)
{
    bool outside;
    T value{};
    char *from = surface_place(texture_of(object), sizeof(T), x, y, z, mode, &outside);
    if (outside && mode == cudaBoundaryModeTrap)
        sim_trap();
    if (!outside)
        __builtin_memcpy(&value, from, sizeof(T));
    return value;
}

template <class T>
SIM_INLINE void surface_write(T value, cudaSurfaceObject_t object, int x, int y, int z, cudaSurfaceBoundaryMode mode)
{
    bool outside;
    char *to = surface_place(texture_of(object), sizeof(T), x, y, z, mode, &outside);
    if (outside && mode == cudaBoundaryModeTrap)
        sim_trap();
    if (!outside)
        __builtin_memcpy(to, &value, sizeof(T));
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

#endif
