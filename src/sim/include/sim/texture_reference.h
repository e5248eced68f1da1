// Texture references, as programs for CUDA 11 and before declare them: texture<float, 2, cudaReadModeElementType> name.
// Each is a texture object of its own, bound and unbound by calls.
#pragma once

#include "sim/runtime_api.h"
#include "sim/surface_fetch.h"

struct textureReference {
    int normalized = 0;
    cudaTextureFilterMode filterMode = cudaFilterModePoint;
    cudaTextureAddressMode addressMode[3] = {cudaAddressModeClamp, cudaAddressModeClamp, cudaAddressModeClamp};
    cudaChannelFormatDesc channelDesc = {0, 0, 0, 0, cudaChannelFormatKindNone};
    int sRGB = 0;
    unsigned int maxAnisotropy = 0;
    cudaTextureObject_t bound = 0; // 0: to nothing
};

template <class T, int Type = cudaTextureType1D, cudaTextureReadMode Mode = cudaReadModeElementType>
struct texture : textureReference {
    texture(int normalised = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
            cudaTextureAddressMode address = cudaAddressModeClamp)
    {
        normalized = normalised;
        filterMode = filter;
        addressMode[0] = addressMode[1] = addressMode[2] = address;
        channelDesc = cudaCreateChannelDesc<T>();
    }
};

namespace sim
{
template <class T, int Type, cudaTextureReadMode Mode>
inline cudaError_t texture_bind(texture<T, Type, Mode> &reference, const cudaResourceDesc &resource)
{
    cudaTextureDesc description = {};
    for (int i = 0; i < 3; i++)
        description.addressMode[i] = reference.addressMode[i];
    description.filterMode = reference.filterMode;
    description.readMode = Mode;
    description.normalizedCoords = reference.normalized;
    if (reference.bound)
        cudaDestroyTextureObject(reference.bound);
    reference.bound = 0;
    return cudaCreateTextureObject(&reference.bound, &resource, &description, 0);
}

template <class T, cudaTextureReadMode Mode> struct texture_result {
    typedef T type;
};
template <class T> struct texture_result<T, cudaReadModeNormalizedFloat> {
    typedef typename channels<T>::widened type;
};
} // namespace sim

template <class T, int Type, cudaTextureReadMode Mode>
inline cudaError_t cudaBindTexture(size_t *offset, texture<T, Type, Mode> &reference, const void *memory,
                                   const cudaChannelFormatDesc &format, size_t bytes = (size_t)-1)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<void *>(memory);
    resource.res.linear.desc = format;
    resource.res.linear.sizeInBytes = bytes;
    if (bytes == (size_t)-1) // all that lies behind the pointer
        resource.res.linear.sizeInBytes = (size_t)1 << 27;
    if (offset)
        *offset = 0;
    return sim::texture_bind(reference, resource);
}

template <class T, int Type, cudaTextureReadMode Mode>
inline cudaError_t cudaBindTexture(size_t *offset, texture<T, Type, Mode> &reference, const void *memory,
                                   size_t bytes = (size_t)-1)
{
    return cudaBindTexture(offset, reference, memory, reference.channelDesc, bytes);
}

template <class T, int Type, cudaTextureReadMode Mode>
inline cudaError_t cudaBindTexture2D(size_t *offset, texture<T, Type, Mode> &reference, const void *memory,
                                     const cudaChannelFormatDesc &format, size_t width, size_t height, size_t pitch)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = const_cast<void *>(memory);
    resource.res.pitch2D.desc = format;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    if (offset)
        *offset = 0;
    return sim::texture_bind(reference, resource);
}

template <class T, int Type, cudaTextureReadMode Mode>
inline cudaError_t cudaBindTextureToArray(texture<T, Type, Mode> &reference, cudaArray_const_t array)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = const_cast<cudaArray_t>(array);
    return sim::texture_bind(reference, resource);
}

template <class T, int Type, cudaTextureReadMode Mode>
inline cudaError_t cudaBindTextureToArray(texture<T, Type, Mode> &reference, cudaArray_const_t array,
                                          const cudaChannelFormatDesc &)
{
    return cudaBindTextureToArray(reference, array);
}

template <class T, int Type, cudaTextureReadMode Mode>
inline cudaError_t cudaUnbindTexture(texture<T, Type, Mode> &reference)
{
    cudaError_t error = reference.bound ? cudaDestroyTextureObject(reference.bound) : cudaSuccess;
    reference.bound = 0;
    return error;
}

#define SIM_REFERENCE_FETCH(name, arguments, ...)                                                                      \
    template <class T, int Type, cudaTextureReadMode Mode>                                                             \
    SIM_INLINE typename sim::texture_result<T, Mode>::type name(const texture<T, Type, Mode> &reference, __VA_ARGS__)  \
    {                                                                                                                  \
        return name<typename sim::texture_result<T, Mode>::type> arguments;                                            \
    }
SIM_REFERENCE_FETCH(tex1Dfetch, (reference.bound, x), int x)
SIM_REFERENCE_FETCH(tex1D, (reference.bound, x), float x)
SIM_REFERENCE_FETCH(tex2D, (reference.bound, x, y), float x, float y)
SIM_REFERENCE_FETCH(tex3D, (reference.bound, x, y, z), float x, float y, float z)
SIM_REFERENCE_FETCH(tex2DLayered, (reference.bound, x, y, layer), float x, float y, int layer)
#undef SIM_REFERENCE_FETCH
