// The one device: choosing it, resetting it, its limits and settings. Its properties are in properties.c.
#include <stdio.h>
#include <string.h>

#include "api/call.h"
#include "api/capture.h"
#include "api/chips.h"
#include "api/device.h"
#include "api/run.h"
#include "api/stream.h"
#include "core/core.h"
#include "memory/memory.h"
#include "watch/watch.h"

static const char own_bus_id[] = "0000:01:00.0";

cudaError_t sim_device_check(int device)
{
    if (device == 0)
        return cudaSuccess;
    return sim_fail(cudaErrorInvalidDevice, "there is only device 0, not %d", device);
}

static cudaError_t store(int *place, int value)
{
    if (place == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the result is NULL");
    *place = value;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    return SIM_CALL(store(count, 1));
}

cudaError_t cudaGetDevice(int *device)
{
    return SIM_CALL(store(device, 0));
}

cudaError_t cudaSetDevice(int device)
{
    return SIM_CALL(sim_device_check(device));
}

cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags)
{
    (void)device_flags, (void)flags;
    return SIM_CALL(sim_device_check(device));
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *properties)
{
    (void)properties;
    return SIM_CALL(store(device, 0));
}

cudaError_t cudaSetValidDevices(int *devices, int count)
{
    return SIM_CALL(count > 0 ? sim_device_check(devices[0]) : cudaSuccess);
}

static unsigned device_flags = cudaDeviceMapHost;

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    device_flags = flags | cudaDeviceMapHost;
    return SIM_CALL(cudaSuccess);
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    *flags = device_flags;
    return SIM_CALL(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return SIM_CALL(store(version, CUDART_VERSION));
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    return SIM_CALL(store(version, CUDART_VERSION));
}

// --- reset ----------------------------------------------------------------------------------------------------------

static void free_allocation(const sim_allocation *allocation, void *context)
{
    (void)context;
    if (allocation->live)
        sim_watch_release(allocation->start, sim_call_pc());
}

// All that the program holds on the device goes.
static cudaError_t reset(void)
{
    sim_device_wait();
    sim_memory_each(free_allocation, NULL);
    sim_error_reset();
    return cudaSuccess;
}

static cudaError_t reset_call(const char *function, uintptr_t pc)
{
    if (!sim_call_begin(function, pc) && sim_error_broken() == cudaSuccess)
        return sim_call_refused();
    return sim_call_end(reset());
}

cudaError_t cudaDeviceReset(void)
{
    return reset_call(__func__, SIM_CALLER);
}

cudaError_t cudaThreadExit(void)
{
    return reset_call(__func__, SIM_CALLER);
}

// --- limits and settings --------------------------------------------------------------------------------------------

enum { LIMITS = cudaLimitPersistingL2CacheSize + 1 };
static size_t limits[LIMITS] = {[cudaLimitStackSize] = 1024,
                                [cudaLimitPrintfFifoSize] = 1 << 20,
                                [cudaLimitMallocHeapSize] = 8 << 20,
                                [cudaLimitDevRuntimeSyncDepth] = 2,
                                [cudaLimitDevRuntimePendingLaunchCount] = 2048,
                                [cudaLimitMaxL2FetchGranularity] = 64};

SIM_API(cudaDeviceSetLimit, (enum cudaLimit limit, size_t value), (limit, value))
{
    if ((unsigned)limit >= LIMITS)
        return sim_fail(cudaErrorInvalidValue, "%d is no limit", (int)limit);
    limits[limit] = value;
    if (limit == cudaLimitMallocHeapSize && &sim_heap_limit != NULL)
        sim_heap_limit = value;
    return cudaSuccess;
}

SIM_API(cudaDeviceGetLimit, (size_t * value, enum cudaLimit limit), (value, limit))
{
    if (value == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the limit is NULL");
    if ((unsigned)limit >= LIMITS)
        return sim_fail(cudaErrorInvalidValue, "%d is no limit", (int)limit);
    *value = limits[limit];
    return cudaSuccess;
}

// How the cache is split and how wide banks are is not simulated: kept, and given back.
static enum cudaFuncCache cache_config = cudaFuncCachePreferNone;
static enum cudaSharedMemConfig bank_config = cudaSharedMemBankSizeFourByte;

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    *config = cache_config;
    return SIM_CALL(cudaSuccess);
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    cache_config = config;
    return SIM_CALL(cudaSuccess);
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    *config = bank_config;
    return SIM_CALL(cudaSuccess);
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    bank_config = config;
    return SIM_CALL(cudaSuccess);
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return SIM_CALL(cudaSuccess);
}

cudaError_t cudaProfilerStart(void)
{
    return SIM_CALL(cudaSuccess);
}

cudaError_t cudaProfilerStop(void)
{
    return SIM_CALL(cudaSuccess);
}

// --- where it sits, and others --------------------------------------------------------------------------------------

SIM_API(cudaDeviceGetPCIBusId, (char *text, int length, int device), (text, length, device))
{
    const cudaError_t error = sim_device_check(device);
    if (error != cudaSuccess)
        return error;
    if (text == NULL || length <= 0)
        return sim_fail(cudaErrorInvalidValue, "the buffer is too small for the bus id");
    snprintf(text, (size_t)length, "%s", own_bus_id);
    return cudaSuccess;
}

SIM_API(cudaDeviceGetByPCIBusId, (int *device, const char *text), (device, text))
{
    if (device == NULL || text == NULL || strstr(own_bus_id, text) == NULL)
        return sim_fail(cudaErrorInvalidDevice, "the device is at %s", own_bus_id);
    *device = 0;
    return cudaSuccess;
}

SIM_API(cudaDeviceCanAccessPeer, (int *can, int device, int peer), (can, device, peer))
{
    const cudaError_t error = sim_device_check(device != 0 ? device : peer);
    return error == cudaSuccess ? store(can, 0) : error;
}

static cudaError_t no_peer(int peer)
{
    return sim_fail(cudaErrorInvalidDevice, "there is only one device: %d is not a peer of it", peer);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    (void)flags;
    return SIM_CALL(no_peer(peer));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return SIM_CALL(no_peer(peer));
}

// NOLINTNEXTLINE(readability-non-const-parameter): the type is CUDA's, where a peer may be there to tell of
cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int source, int destination)
{
    (void)value, (void)attribute;
    return SIM_CALL(no_peer(destination != 0 ? destination : source));
}

static cudaError_t no_other_process(void)
{
    return sim_fail_as(SIM_UNSUPPORTED, SIM_ERROR, cudaErrorNotSupported, 0, 0,
                       "memory and events are not shared between processes here");
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    (void)handle, (void)event;
    return SIM_CALL(no_other_process());
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    (void)event, (void)handle;
    return SIM_CALL(no_other_process());
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *memory)
{
    (void)handle, (void)memory;
    return SIM_CALL(no_other_process());
}

cudaError_t cudaIpcOpenMemHandle(void **memory, cudaIpcMemHandle_t handle, unsigned int flags)
{
    (void)memory, (void)handle, (void)flags;
    return SIM_CALL(no_other_process());
}

cudaError_t cudaIpcCloseMemHandle(void *memory)
{
    (void)memory;
    return SIM_CALL(no_other_process());
}
