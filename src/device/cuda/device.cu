// The device as a whole and its memory, and what the module shows of itself.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/cuda.h"
#include "device/driver.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/scratch.h"

const heddle_module_host *heddle_cuda_host;

// The same sources are both devices.
#if defined(HEDDLE_SIM_MODULE)
static const heddle_device_kind KIND = HEDDLE_SIM;
#else
static const heddle_device_kind KIND = HEDDLE_CUDA;
#endif

// What is the caller's mistake, and what the device's.
static heddle_status kind_of(cudaError_t error)
{
    switch (error) {
    case cudaErrorMemoryAllocation: return HEDDLE_OUT_OF_MEMORY;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorIllegalState:
    case cudaErrorNotPermitted: // from a host function, which must not wait for its device
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureMerge:
    case cudaErrorStreamCaptureUnmatched:
    case cudaErrorStreamCaptureUnjoined:
    case cudaErrorStreamCaptureIsolation:
    case cudaErrorStreamCaptureImplicit:
    case cudaErrorCapturedEvent:
    case cudaErrorStreamCaptureWrongThread: return HEDDLE_INVALID;
    default: return HEDDLE_DEVICE;
    }
}

static bool failure_told; // of the device; CUDA goes on answering every call with it

heddle_status heddle_cuda_failed(heddle_status status, const char *text, const char *name, heddle_cuda_place place)
{
    // From the source tree's root on, whatever path the compiler was given.
    const char *file = place.file;
    for (const char *next = strstr(file, "src/"); next; next = strstr(next + 1, "src/"))
        file = next;
    int length = (int)strcspn(place.call, "(");
    return heddle_cuda_fail(status, "%.*s failed: %s (%s) at %s:%d", length, place.call, text, name, file, place.line);
}

heddle_status heddle_cuda_checked(cudaError_t error, heddle_cuda_place place)
{
    if (error == cudaSuccess)
        return HEDDLE_OK;
    cudaGetLastError(); // the failure is told here; the next call starts clean
    failure_told |= kind_of(error) == HEDDLE_DEVICE;
    if (kind_of(error) == HEDDLE_DEVICE)
        HEDDLE_TRY(heddle_cuda_findings()); // says more of an illegal address than its name: where
    return heddle_cuda_failed(kind_of(error), cudaGetErrorString(error), cudaGetErrorName(error), place);
}

heddle_status heddle_cuda_select(const heddle_device *device)
{
    return HEDDLE_CUDA_CHECK(cudaSetDevice(heddle_cuda_index(device)));
}

static heddle_status open_device(int index, int threads, heddle_device **device)
{
    (void)threads; // of the CPU
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        cudaGetLastError();
        const char *why = error == cudaSuccess ? "none found" : cudaGetErrorString(error);
        // "The driver's version is insufficient" would have one update a driver that is not there.
        if (error == cudaErrorInsufficientDriver && !heddle_nvidia_driver_is_loaded())
            why = "no NVIDIA driver is loaded";
        return heddle_cuda_fail(HEDDLE_MISSING, "no CUDA device here (%s)", why);
    }
    if (index >= count)
        return heddle_cuda_fail(HEDDLE_NOT_FOUND, "no CUDA device %d: there %s %d, counted from 0", index,
                                count == 1 ? "is" : "are", count);
    heddle_cuda_device *opened = (heddle_cuda_device *)calloc(1, sizeof *opened);
    if (!opened)
        return heddle_cuda_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a device");
    opened->index = index;
    heddle_status status = heddle_cuda_select(&opened->base);
    if (status == HEDDLE_OK)
        status = HEDDLE_CUDA_CHECK(cudaFree(NULL)); // makes the context: a broken driver shows here
    if (status == HEDDLE_OK)
        status = heddle_cuda_pool_create(opened);
    if (status != HEDDLE_OK) {
        free(opened);
        return status;
    }
    *device = &opened->base;
    return HEDDLE_OK;
}

static heddle_status synchronize(heddle_device *device)
{
    HEDDLE_TRY(heddle_cuda_select(device));
    return HEDDLE_CUDA_WAITED(cudaDeviceSynchronize());
}

static heddle_status finish(heddle_device *device)
{
    cudaError_t error = cudaSetDevice(heddle_cuda_index(device));
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error == cudaSuccess || !failure_told)
        return heddle_cuda_waited(error, HEDDLE_CUDA_HERE("cudaDeviceSynchronize"));
    cudaGetLastError();
    return HEDDLE_OK;
}

static void close_device(heddle_device *device)
{
    heddle_cuda_scratch_drop(device);
    heddle_cuda_pool_destroy((heddle_cuda_device *)device);
    free(device);
}

static heddle_backend backend;

extern "C" HEDDLE_API const heddle_module *heddle_module_start(const heddle_module_host *host)
{
    static heddle_module module;
    if (host->version != HEDDLE_MODULE_VERSION)
        return NULL;
    heddle_cuda_host = host;
    heddle_cuda_watch();
    backend.kind = KIND;
    backend.open = open_device;
    backend.finish = finish;
    backend.close = close_device;
    backend.describe = heddle_cuda_describe;
    backend.synchronize = synchronize;
    backend.alloc = heddle_cuda_alloc;
    backend.free = heddle_cuda_free;
    backend.alloc_pinned = heddle_cuda_alloc_pinned;
    backend.free_pinned = heddle_cuda_free_pinned;
    backend.stream_create = heddle_cuda_stream_create;
    backend.stream_wrap = heddle_cuda_stream_wrap;
    backend.stream_native = heddle_cuda_stream_native;
    backend.stream_destroy = heddle_cuda_stream_destroy;
    backend.stream_synchronize = heddle_cuda_stream_synchronize;
    backend.stream_query = heddle_cuda_stream_query;
    backend.stream_wait = heddle_cuda_stream_wait;
    backend.copy = heddle_cuda_copy;
    backend.fill = heddle_cuda_fill;
    backend.callback = heddle_cuda_callback;
    backend.event_create = heddle_cuda_event_create;
    backend.event_destroy = heddle_cuda_event_destroy;
    backend.event_record = heddle_cuda_event_record;
    backend.event_synchronize = heddle_cuda_event_synchronize;
    backend.event_query = heddle_cuda_event_query;
    backend.event_elapsed = heddle_cuda_event_elapsed;
    backend.capture_begin = heddle_cuda_capture_begin;
    backend.capture_end = heddle_cuda_capture_end;
    backend.graph_launch = heddle_cuda_graph_launch;
    backend.graph_destroy = heddle_cuda_graph_destroy;
    backend.launcher = heddle_cuda_launcher;
    backend.capability = heddle_cuda_capability;
    backend.shared_bytes = heddle_cuda_shared_bytes;
    backend.reset_cache = heddle_cuda_reset_cache;
    backend.kept_cache = heddle_cuda_kept_cache;
    backend.properties = heddle_cuda_properties;
    backend.exercise = heddle_cuda_exercise;
    backend.missing = heddle_cuda_missing;
    module.version = HEDDLE_MODULE_VERSION;
    module.backend = &backend;
    return &module;
}
