// The small part of the driver API that is there, in terms of the runtime's functions: errors have the same numbers.
#include <stdio.h>
#include <string.h>

#include "api/allocate.h"
#include "api/call.h"
#include "api/copy.h"
#include "api/device.h"
#include "api/stream.h"
#include "sim/driver_api.h"

struct CUctx_st {
    int unused;
};
static struct CUctx_st primary; // the one device has one context

// The body of a function of the driver: as the runtime's, but for the type of the error.
#define SIM_DRIVER_CALL(expression) ((CUresult)SIM_CALL(expression))

CUresult cuInit(unsigned int flags)
{
    (void)flags;
    return SIM_DRIVER_CALL(cudaSuccess);
}

CUresult cuDriverGetVersion(int *version)
{
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    *text = cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}

// The driver's names are its own; CUDA_ERROR_ and the number say as much as a name would.
CUresult cuGetErrorName(CUresult error, const char **name)
{
    static __thread char text[40];
    sim_error_looked_at((cudaError_t)error);
    snprintf(text, sizeof text, error == CUDA_SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR_%d", (int)error);
    *name = text;
    return CUDA_SUCCESS;
}

// --- the device --------------------------------------------------------------------------------------------------------

CUresult cuDeviceGetCount(int *count)
{
    *count = 1;
    return SIM_DRIVER_CALL(cudaSuccess);
}

static cudaError_t get_device(CUdevice *device, int ordinal)
{
    *device = 0;
    return sim_device_check(ordinal);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    return SIM_DRIVER_CALL(get_device(device, ordinal));
}

static cudaError_t get_name(char *name, int length, CUdevice device)
{
    struct cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess && length > 0)
        snprintf(name, (size_t)length, "%s", properties.name);
    return error;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    return SIM_DRIVER_CALL(get_name(name, length, device));
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    return SIM_DRIVER_CALL(cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device));
}

static cudaError_t total_memory(size_t *bytes, CUdevice device)
{
    *bytes = sim_memory_total();
    return sim_device_check(device);
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    return SIM_DRIVER_CALL(total_memory(bytes, device));
}

static cudaError_t get_uuid(CUuuid *uuid, CUdevice device)
{
    struct cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess)
        *uuid = properties.uuid;
    return error;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    return SIM_DRIVER_CALL(get_uuid(uuid, device));
}

static cudaError_t get_capability(int *major, int *minor, CUdevice device)
{
    const cudaError_t error = cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device);
    return error == cudaSuccess ? cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device) : error;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    return SIM_DRIVER_CALL(get_capability(major, minor, device));
}

// --- the context -------------------------------------------------------------------------------------------------------

static cudaError_t get_context(CUcontext *context, CUdevice device)
{
    *context = &primary;
    return sim_device_check(device);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    return SIM_DRIVER_CALL(get_context(context, device));
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    return SIM_DRIVER_CALL(sim_device_check(device));
}

CUresult sim_context_create(CUcontext *context, CUdevice device)
{
    return (CUresult)SIM_CALL_AS("cuCtxCreate", get_context(context, device));
}

CUresult cuCtxDestroy(CUcontext context)
{
    (void)context;
    return SIM_DRIVER_CALL(sim_device_wait());
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    (void)context;
    return SIM_DRIVER_CALL(cudaSuccess);
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    (void)context;
    return SIM_DRIVER_CALL(cudaSuccess);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    return SIM_DRIVER_CALL(get_context(context, 0));
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    CUcontext unwanted;
    return SIM_DRIVER_CALL(get_context(context != NULL ? context : &unwanted, 0));
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    return SIM_DRIVER_CALL(get_device(device, 0));
}

CUresult cuCtxSynchronize(void)
{
    return SIM_DRIVER_CALL(sim_device_wait());
}

// --- memory ------------------------------------------------------------------------------------------------------------

static void *pointer_of(CUdeviceptr memory)
{
    return (void *)(uintptr_t)memory;
}

static cudaError_t allocate(CUdeviceptr *memory, size_t bytes)
{
    void *allocated = NULL;
    const cudaError_t error = sim_allocate(&allocated, bytes, SIM_MEMORY_DEVICE);
    *memory = (CUdeviceptr)(uintptr_t)allocated;
    return error;
}

CUresult cuMemAlloc(CUdeviceptr *memory, size_t bytes)
{
    return SIM_DRIVER_CALL(allocate(memory, bytes));
}

CUresult cuMemFree(CUdeviceptr memory)
{
    return SIM_DRIVER_CALL(cudaFree(pointer_of(memory)));
}

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    return SIM_DRIVER_CALL(cudaMemGetInfo(free_bytes, total_bytes));
}

static cudaError_t copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    const sim_copy_request request = sim_copy_flat(to, from, bytes, kind);
    return sim_copy_now(&request);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    return SIM_DRIVER_CALL(copy(pointer_of(to), from, bytes, cudaMemcpyHostToDevice));
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    return SIM_DRIVER_CALL(copy(to, pointer_of(from), bytes, cudaMemcpyDeviceToHost));
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return SIM_DRIVER_CALL(copy(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice));
}

CUresult cuMemsetD8(CUdeviceptr memory, unsigned char value, size_t bytes)
{
    return SIM_DRIVER_CALL(cudaMemset(pointer_of(memory), value, bytes));
}
