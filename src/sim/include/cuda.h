// Stands in for CUDA's header of this name: the driver API, as far as programs that are compiled as a whole use it. Its
// calls are the runtime's. Modules, loaded as PTX or binaries, cannot be simulated: those calls say "not supported".
#pragma once
#define __cuda_cuda_h__

#ifdef __cplusplus
#include "sim/standin.h"
#else
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#endif

#include "sim/driver_enums.h"
#include "sim/driver_virtual.h"

#define CUDA_VERSION 13000
#define CUDAAPI

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUarray_st *CUarray; // a cudaArray_t under another name
typedef struct CUlinkState_st *CUlinkState;
typedef size_t (*CUoccupancyB2DSize)(int block);
typedef enum CUjit_option_enum {
    CU_JIT_MAX_REGISTERS,
    CU_JIT_THREADS_PER_BLOCK,
    CU_JIT_WALL_TIME,
    CU_JIT_INFO_LOG_BUFFER,
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
    CU_JIT_ERROR_LOG_BUFFER,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    CU_JIT_OPTIMIZATION_LEVEL,
    CU_JIT_TARGET_FROM_CUCONTEXT,
    CU_JIT_TARGET,
    CU_JIT_LOG_VERBOSE = 12
} CUjit_option;
typedef enum CUjitInputType_enum {
    CU_JIT_INPUT_CUBIN,
    CU_JIT_INPUT_PTX,
    CU_JIT_INPUT_FATBINARY,
    CU_JIT_INPUT_OBJECT,
    CU_JIT_INPUT_LIBRARY
} CUjitInputType;
typedef enum CUcomputemode_enum {
    CU_COMPUTEMODE_DEFAULT = 0,
    CU_COMPUTEMODE_PROHIBITED = 2,
    CU_COMPUTEMODE_EXCLUSIVE_PROCESS = 3
} CUcomputemode;
typedef struct CUctxCreateParams_st {
    void *execAffinityParams;
    int numExecAffinityParams;
    void *cigParams;
} CUctxCreateParams;

#define CU_STREAM_DEFAULT              0
#define CU_STREAM_NON_BLOCKING         1
#define CU_EVENT_DEFAULT               0
#define CU_EVENT_DISABLE_TIMING        2
#define CU_CTX_SCHED_AUTO              0
#define CU_CTX_MAP_HOST                8
#define CU_MEMHOSTALLOC_PORTABLE       1
#define CU_MEMHOSTALLOC_DEVICEMAP      2
#define CU_MEMHOSTALLOC_WRITECOMBINED  4
#define CU_LAUNCH_PARAM_END            ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE    ((void *)2)

#if defined(__clang__) && !defined(__cplusplus)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc2x-extensions" // parameters without names
#endif

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
    struct cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess && length > 0)
        snprintf(name, (size_t)length, "%s", properties.name);
    return (CUresult)error;
}
SIM_INLINE CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    struct cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess)
        *bytes = properties.totalGlobalMem;
    return (CUresult)error;
}
SIM_INLINE CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    return (CUresult)cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device);
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
    *context = (CUcontext)(uintptr_t)1;
    return CUDA_SUCCESS;
}
SIM_INLINE CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    cuCtxGetCurrent(context);
    return (CUresult)cudaSetDevice(device);
}
SIM_INLINE CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *, unsigned int, CUdevice device)
{
    return cuDevicePrimaryCtxRetain(context, device);
}
// As before CUDA 13, with three arguments.
#ifdef __cplusplus
SIM_INLINE CUresult cuCtxCreate(CUcontext *context, unsigned int, CUdevice device)
{
    return cuDevicePrimaryCtxRetain(context, device);
}
#else
SIM_INLINE CUresult sim_context_create(CUcontext *context, unsigned int, CUdevice device)
{
    return cuDevicePrimaryCtxRetain(context, device);
}
#define SIM_CONTEXT_CREATE(one, two, three, four, function, ...) function
#define cuCtxCreate(...)                                                                                               \
    SIM_CONTEXT_CREATE(__VA_ARGS__, cuCtxCreate, sim_context_create, sim_context_create, sim_context_create)           \
    (__VA_ARGS__)
#endif
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
SIM_INLINE CUresult cuCtxEnablePeerAccess(CUcontext, unsigned int)
{
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}
SIM_INLINE CUresult cuCtxGetDevice(CUdevice *device)
{
    return (CUresult)cudaGetDevice(device);
}
SIM_INLINE CUresult cuCtxSynchronize()
{
    return (CUresult)cudaDeviceSynchronize();
}
SIM_INLINE CUresult cuDevicePrimaryCtxRelease(CUdevice)
{
    return CUDA_SUCCESS;
}
SIM_INLINE CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    return (CUresult)cudaDeviceCanAccessPeer(can, device, peer);
}
SIM_INLINE CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    struct cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess)
        memcpy(uuid, &properties.uuid, sizeof *uuid);
    return (CUresult)error;
}
SIM_INLINE CUresult cuMemAlloc(CUdeviceptr *memory, size_t bytes)
{
    return (CUresult)cudaMalloc((void **)memory, bytes);
}
SIM_INLINE CUresult cuMemAllocManaged(CUdeviceptr *memory, size_t bytes, unsigned int flags)
{
    return (CUresult)cudaMallocManaged((void **)memory, bytes, flags);
}
SIM_INLINE CUresult cuMemFree(CUdeviceptr memory)
{
    return (CUresult)cudaFree((void *)(uintptr_t)memory);
}
SIM_INLINE CUresult cuMemAllocHost(void **memory, size_t bytes)
{
    return (CUresult)cudaMallocHost(memory, bytes);
}
SIM_INLINE CUresult cuMemFreeHost(void *memory)
{
    return (CUresult)cudaFreeHost(memory);
}
SIM_INLINE CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned int flags)
{
    return (CUresult)cudaHostAlloc(memory, bytes, flags);
}
SIM_INLINE CUresult cuMemHostRegister(void *memory, size_t bytes, unsigned int flags)
{
    return (CUresult)cudaHostRegister(memory, bytes, flags);
}
SIM_INLINE CUresult cuMemHostUnregister(void *memory)
{
    return (CUresult)cudaHostUnregister(memory);
}
SIM_INLINE CUresult cuMemHostGetDevicePointer(CUdeviceptr *device, void *host, unsigned int flags)
{
    return (CUresult)cudaHostGetDevicePointer((void **)device, host, flags);
}
SIM_INLINE CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    return (CUresult)cudaMemGetInfo(free_bytes, total_bytes);
}
SIM_INLINE CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    return (CUresult)cudaMemcpy((void *)(uintptr_t)to, from, bytes, cudaMemcpyHostToDevice);
}
SIM_INLINE CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    return (CUresult)cudaMemcpy(to, (void *)(uintptr_t)from, bytes, cudaMemcpyDeviceToHost);
}
SIM_INLINE CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return (CUresult)cudaMemcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes, cudaMemcpyDeviceToDevice);
}
SIM_INLINE CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return (CUresult)cudaMemcpyAsync((void *)(uintptr_t)to, from, bytes, cudaMemcpyHostToDevice, stream);
}
SIM_INLINE CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return (CUresult)cudaMemcpyAsync(to, (void *)(uintptr_t)from, bytes, cudaMemcpyDeviceToHost, stream);
}
SIM_INLINE CUresult cuMemsetD8(CUdeviceptr memory, unsigned char value, size_t bytes)
{
    return (CUresult)cudaMemset((void *)(uintptr_t)memory, value, bytes);
}
SIM_INLINE CUresult cuMemsetD8Async(CUdeviceptr memory, unsigned char value, size_t bytes, CUstream stream)
{
    return (CUresult)cudaMemsetAsync((void *)(uintptr_t)memory, value, bytes, stream);
}
#ifdef __cplusplus
extern "C" {
#endif
CUresult cuMemsetD16(CUdeviceptr memory, unsigned short value, size_t count);
CUresult cuMemsetD32(CUdeviceptr memory, unsigned int value, size_t count);
CUresult cuMemsetD16Async(CUdeviceptr memory, unsigned short value, size_t count, CUstream stream);
CUresult cuMemsetD32Async(CUdeviceptr memory, unsigned int value, size_t count, CUstream stream);
#ifdef __cplusplus
}
#endif
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
SIM_INLINE CUresult cuStreamQuery(CUstream stream)
{
    return (CUresult)cudaStreamQuery(stream);
}
SIM_INLINE CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    return (CUresult)cudaStreamWaitEvent(stream, event, flags);
}
SIM_INLINE CUresult cuEventQuery(CUevent event)
{
    return (CUresult)cudaEventQuery(event);
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
SIM_INLINE CUresult cuModuleLoadDataEx(CUmodule *, const void *, unsigned int, CUjit_option *, void **)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
SIM_INLINE CUresult cuModuleLoadFatBinary(CUmodule *, const void *)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
SIM_INLINE CUresult cuModuleGetGlobal(CUdeviceptr *, size_t *, CUmodule, const char *)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
SIM_INLINE CUresult cuLinkCreate(unsigned int, CUjit_option *, void **, CUlinkState *)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
SIM_INLINE CUresult cuLinkAddData(CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned int,
                                  CUjit_option *, void **)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
SIM_INLINE CUresult cuLinkComplete(CUlinkState, void **, size_t *)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
SIM_INLINE CUresult cuLinkDestroy(CUlinkState)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
SIM_INLINE CUresult cuOccupancyMaxPotentialBlockSize(int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
SIM_INLINE CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, CUfunction, int, size_t)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
SIM_INLINE CUresult cuLaunchKernel(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
                                   unsigned int, unsigned int, CUstream, void **, void **)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

#ifdef __cplusplus
#include "sim/driver_memory.h"
#elif defined(__clang__)
#pragma clang diagnostic pop
#endif
