// Stands in for CUDA's header of this name: the driver API, as far as programs that are compiled as a whole use it. Its
// calls are the runtime's. Modules, loaded as PTX or binaries, cannot be simulated: those calls say "not supported".
#pragma once
#define __cuda_cuda_h__

#include "sim/standin.h"

#include "sim/driver_enums.h"

#define CUDA_VERSION 13000
#define CUDAAPI

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

#define CU_STREAM_DEFAULT       0
#define CU_STREAM_NON_BLOCKING  1
#define CU_EVENT_DEFAULT        0
#define CU_EVENT_DISABLE_TIMING 2
#define CU_CTX_SCHED_AUTO       0
#define CU_CTX_MAP_HOST         8

SIM_INLINE CUresult cuInit(unsigned int)
{
    int count = 0;
    return (CUresult)cudaGetDeviceCount(&count);
}
SIM_INLINE CUresult cuDriverGetVersion(int *version)
{
    return (CUresult)cudaDriverGetVersion(version);
}
SIM_INLINE CUresult cuDeviceGetCount(int *count)
{
    return (CUresult)cudaGetDeviceCount(count);
}
SIM_INLINE CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess)
        return (CUresult)error;
    if (ordinal < 0 || ordinal >= count)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}
SIM_INLINE CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess && length > 0)
        snprintf(name, (size_t)length, "%s", properties.name);
    return (CUresult)error;
}
SIM_INLINE CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess)
        *bytes = properties.totalGlobalMem;
    return (CUresult)error;
}
SIM_INLINE CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    return (CUresult)cudaDeviceGetAttribute(value, (cudaDeviceAttr)attribute, device);
}
SIM_INLINE CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    CUresult result = cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    if (result == CUDA_SUCCESS)
        result = cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    return result;
}
// There is one context, the card's: a program that makes its own gets that one.
SIM_INLINE CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = reinterpret_cast<CUcontext>(1);
    return CUDA_SUCCESS;
}
SIM_INLINE CUresult cuCtxCreate(CUcontext *context, unsigned int, CUdevice device)
{
    cuCtxGetCurrent(context);
    return (CUresult)cudaSetDevice(device);
}
SIM_INLINE CUresult cuCtxDestroy(CUcontext)
{
    return CUDA_SUCCESS;
}
SIM_INLINE CUresult cuCtxSetCurrent(CUcontext)
{
    return CUDA_SUCCESS;
}
SIM_INLINE CUresult cuCtxPushCurrent(CUcontext)
{
    return CUDA_SUCCESS;
}
SIM_INLINE CUresult cuCtxPopCurrent(CUcontext *context)
{
    return cuCtxGetCurrent(context);
}
SIM_INLINE CUresult cuCtxGetDevice(CUdevice *device)
{
    return (CUresult)cudaGetDevice(device);
}
SIM_INLINE CUresult cuCtxSynchronize()
{
    return (CUresult)cudaDeviceSynchronize();
}
SIM_INLINE CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    return cuCtxCreate(context, 0, device);
}
SIM_INLINE CUresult cuDevicePrimaryCtxRelease(CUdevice)
{
    return CUDA_SUCCESS;
}
SIM_INLINE CUresult cuMemAlloc(CUdeviceptr *memory, size_t bytes)
{
    return (CUresult)cudaMalloc(reinterpret_cast<void **>(memory), bytes);
}
SIM_INLINE CUresult cuMemAllocManaged(CUdeviceptr *memory, size_t bytes, unsigned int flags)
{
    return (CUresult)cudaMallocManaged(reinterpret_cast<void **>(memory), bytes, flags);
}
SIM_INLINE CUresult cuMemFree(CUdeviceptr memory)
{
    return (CUresult)cudaFree(reinterpret_cast<void *>(memory));
}
SIM_INLINE CUresult cuMemAllocHost(void **memory, size_t bytes)
{
    return (CUresult)cudaMallocHost(memory, bytes);
}
SIM_INLINE CUresult cuMemFreeHost(void *memory)
{
    return (CUresult)cudaFreeHost(memory);
}
SIM_INLINE CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    return (CUresult)cudaMemGetInfo(free_bytes, total_bytes);
}
SIM_INLINE CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    return (CUresult)cudaMemcpy(reinterpret_cast<void *>(to), from, bytes, cudaMemcpyHostToDevice);
}
SIM_INLINE CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    return (CUresult)cudaMemcpy(to, reinterpret_cast<void *>(from), bytes, cudaMemcpyDeviceToHost);
}
SIM_INLINE CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return (CUresult)cudaMemcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes,
                                cudaMemcpyDeviceToDevice);
}
SIM_INLINE CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return (CUresult)cudaMemcpyAsync(reinterpret_cast<void *>(to), from, bytes, cudaMemcpyHostToDevice, stream);
}
SIM_INLINE CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return (CUresult)cudaMemcpyAsync(to, reinterpret_cast<void *>(from), bytes, cudaMemcpyDeviceToHost, stream);
}
SIM_INLINE CUresult cuMemsetD8(CUdeviceptr memory, unsigned char value, size_t bytes)
{
    return (CUresult)cudaMemset(reinterpret_cast<void *>(memory), value, bytes);
}
SIM_INLINE CUresult cuMemsetD8Async(CUdeviceptr memory, unsigned char value, size_t bytes, CUstream stream)
{
    return (CUresult)cudaMemsetAsync(reinterpret_cast<void *>(memory), value, bytes, stream);
}
extern "C" {
CUresult cuMemsetD16(CUdeviceptr memory, unsigned short value, size_t count);
CUresult cuMemsetD32(CUdeviceptr memory, unsigned int value, size_t count);
CUresult cuMemsetD16Async(CUdeviceptr memory, unsigned short value, size_t count, CUstream stream);
CUresult cuMemsetD32Async(CUdeviceptr memory, unsigned int value, size_t count, CUstream stream);
}
SIM_INLINE CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    return (CUresult)cudaStreamCreateWithFlags(stream, flags);
}
SIM_INLINE CUresult cuStreamDestroy(CUstream stream)
{
    return (CUresult)cudaStreamDestroy(stream);
}
SIM_INLINE CUresult cuStreamSynchronize(CUstream stream)
{
    return (CUresult)cudaStreamSynchronize(stream);
}
SIM_INLINE CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    return (CUresult)cudaEventCreateWithFlags(event, flags);
}
SIM_INLINE CUresult cuEventDestroy(CUevent event)
{
    return (CUresult)cudaEventDestroy(event);
}
SIM_INLINE CUresult cuEventRecord(CUevent event, CUstream stream)
{
    return (CUresult)cudaEventRecord(event, stream);
}
SIM_INLINE CUresult cuEventSynchronize(CUevent event)
{
    return (CUresult)cudaEventSynchronize(event);
}
SIM_INLINE CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    return (CUresult)cudaEventElapsedTime(milliseconds, start, end);
}
SIM_INLINE CUresult cuGetErrorString(CUresult error, const char **text)
{
    *text = cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}
SIM_INLINE CUresult cuGetErrorName(CUresult error, const char **name)
{
    *name = cudaGetErrorName((cudaError_t)error);
    return CUDA_SUCCESS;
}
SIM_INLINE CUresult cuModuleLoad(CUmodule *, const char *)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
SIM_INLINE CUresult cuModuleLoadData(CUmodule *, const void *)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
SIM_INLINE CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
SIM_INLINE CUresult cuModuleUnload(CUmodule)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
SIM_INLINE CUresult cuLaunchKernel(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
                                   unsigned int, unsigned int, CUstream, void **, void **)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
