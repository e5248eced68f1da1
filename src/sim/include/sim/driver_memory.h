// The driver API's arrays and texture objects, which are the runtime's under other names. Included by cuda.h.
#pragma once

// --- arrays ----------------------------------------------------------------------------------------------------------

typedef enum CUarray_format_enum {
    CU_AD_FORMAT_UNSIGNED_INT8 = 0x01,
    CU_AD_FORMAT_UNSIGNED_INT16 = 0x02,
    CU_AD_FORMAT_UNSIGNED_INT32 = 0x03,
    CU_AD_FORMAT_SIGNED_INT8 = 0x08,
    CU_AD_FORMAT_SIGNED_INT16 = 0x09,
    CU_AD_FORMAT_SIGNED_INT32 = 0x0a,
    CU_AD_FORMAT_HALF = 0x10,
    CU_AD_FORMAT_FLOAT = 0x20
} CUarray_format;
typedef struct CUDA_ARRAY_DESCRIPTOR_st {
    size_t Width, Height;
    CUarray_format Format;
    unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR;
typedef enum CUmemorytype_enum {
    CU_MEMORYTYPE_HOST = 1,
    CU_MEMORYTYPE_DEVICE = 2,
    CU_MEMORYTYPE_ARRAY = 3,
    CU_MEMORYTYPE_UNIFIED = 4
} CUmemorytype;
typedef struct CUDA_MEMCPY2D_st {
    size_t srcXInBytes, srcY;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

namespace sim
{
SIM_INLINE cudaChannelFormatDesc channel_format(CUarray_format format, unsigned int channels)
{
    cudaChannelFormatKind kind = format >= CU_AD_FORMAT_HALF          ? cudaChannelFormatKindFloat
                                 : format >= CU_AD_FORMAT_SIGNED_INT8 ? cudaChannelFormatKindSigned
                                                                      : cudaChannelFormatKindUnsigned;
    int bits = format == CU_AD_FORMAT_FLOAT  ? 32
               : format == CU_AD_FORMAT_HALF ? 16
                                             : 8 << (((int)format & 7) - (format < CU_AD_FORMAT_SIGNED_INT8 ? 1 : 0));
    return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};
}
// Where a copy begins in memory that is no array.
SIM_INLINE char *linear_start(CUmemorytype type, const void *host, CUdeviceptr device, size_t x, size_t y, size_t pitch)
{
    const void *start = type == CU_MEMORYTYPE_HOST ? host : reinterpret_cast<const void *>(device);
    return static_cast<char *>(const_cast<void *>(start)) + y * pitch + x;
}
} // namespace sim

SIM_INLINE CUresult cuArrayCreate(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *about)
{
    cudaChannelFormatDesc format = sim::channel_format(about->Format, about->NumChannels);
    return (CUresult)cudaMallocArray(reinterpret_cast<cudaArray_t *>(array), &format, about->Width, about->Height);
}
SIM_INLINE CUresult cuArrayDestroy(CUarray array)
{
    return (CUresult)cudaFreeArray(reinterpret_cast<cudaArray_t>(array));
}
SIM_INLINE CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy)
{
    bool from_array = copy->srcMemoryType == CU_MEMORYTYPE_ARRAY, to_array = copy->dstMemoryType == CU_MEMORYTYPE_ARRAY;
    char *from = sim::linear_start(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcXInBytes, copy->srcY,
                                   copy->srcPitch);
    char *to = sim::linear_start(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstXInBytes, copy->dstY,
                                 copy->dstPitch);
    cudaArray_t source = reinterpret_cast<cudaArray_t>(copy->srcArray);
    cudaArray_t destination = reinterpret_cast<cudaArray_t>(copy->dstArray);
    if (from_array && to_array)
        return (CUresult)cudaMemcpy2DArrayToArray(destination, copy->dstXInBytes, copy->dstY, source, copy->srcXInBytes,
                                                  copy->srcY, copy->WidthInBytes, copy->Height,
                                                  cudaMemcpyDeviceToDevice);
    if (from_array)
        return (CUresult)cudaMemcpy2DFromArray(to, copy->dstPitch ? copy->dstPitch : copy->WidthInBytes, source,
                                               copy->srcXInBytes, copy->srcY, copy->WidthInBytes, copy->Height,
                                               cudaMemcpyDefault);
    if (to_array)
        return (CUresult)cudaMemcpy2DToArray(destination, copy->dstXInBytes, copy->dstY, from,
                                             copy->srcPitch ? copy->srcPitch : copy->WidthInBytes, copy->WidthInBytes,
                                             copy->Height, cudaMemcpyDefault);
    return (CUresult)cudaMemcpy2D(to, copy->dstPitch, from, copy->srcPitch, copy->WidthInBytes, copy->Height,
                                  cudaMemcpyDefault);
}

// --- texture objects -------------------------------------------------------------------------------------------------

typedef cudaTextureObject_t CUtexObject;
typedef enum CUaddress_mode_enum {
    CU_TR_ADDRESS_MODE_WRAP,
    CU_TR_ADDRESS_MODE_CLAMP,
    CU_TR_ADDRESS_MODE_MIRROR,
    CU_TR_ADDRESS_MODE_BORDER
} CUaddress_mode;
typedef enum CUfilter_mode_enum { CU_TR_FILTER_MODE_POINT, CU_TR_FILTER_MODE_LINEAR } CUfilter_mode;
typedef enum CUresourcetype_enum {
    CU_RESOURCE_TYPE_ARRAY,
    CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
    CU_RESOURCE_TYPE_LINEAR,
    CU_RESOURCE_TYPE_PITCH2D
} CUresourcetype;
#define CU_TRSF_READ_AS_INTEGER        0x01
#define CU_TRSF_NORMALIZED_COORDINATES 0x02
#define CU_TRSF_SRGB                   0x10
typedef struct CUDA_RESOURCE_DESC_st {
    CUresourcetype resType;
    union {
        struct {
            CUarray hArray;
        } array;
        struct {
            CUdeviceptr devPtr;
            CUarray_format format;
            unsigned int numChannels;
            size_t sizeInBytes;
        } linear;
        struct {
            CUdeviceptr devPtr;
            CUarray_format format;
            unsigned int numChannels;
            size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
    unsigned int flags;
} CUDA_RESOURCE_DESC;
typedef struct CUDA_TEXTURE_DESC_st {
    CUaddress_mode addressMode[3];
    CUfilter_mode filterMode;
    unsigned int flags, maxAnisotropy;
    CUfilter_mode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    float borderColor[4];
} CUDA_TEXTURE_DESC;
typedef struct CUDA_RESOURCE_VIEW_DESC_st CUDA_RESOURCE_VIEW_DESC;

SIM_INLINE CUresult cuTexObjectCreate(CUtexObject *texture, const CUDA_RESOURCE_DESC *from,
                                      const CUDA_TEXTURE_DESC *about, const CUDA_RESOURCE_VIEW_DESC *view)
{
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    if (from->resType != CU_RESOURCE_TYPE_ARRAY || view != nullptr)
        return CUDA_ERROR_NOT_SUPPORTED;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = reinterpret_cast<cudaArray_t>(from->res.array.hArray);
    for (int i = 0; i < 3; i++)
        description.addressMode[i] = (cudaTextureAddressMode)about->addressMode[i];
    description.filterMode = (cudaTextureFilterMode)about->filterMode;
    description.normalizedCoords = (about->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    description.readMode = cudaReadModeElementType;
    return (CUresult)cudaCreateTextureObject(texture, &resource, &description, nullptr);
}
SIM_INLINE CUresult cuTexObjectDestroy(CUtexObject texture)
{
    return (CUresult)cudaDestroyTextureObject(texture);
}
