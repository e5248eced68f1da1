// Memory of the host that the device can reach: pinned and managed memory. Registered memory is in host_register.c.
#include <stddef.h>

#include "api/allocate.h"
#include "api/call.h"
#include "api/pointer.h"
#include "api/run.h"
#include "api/stream.h"
#include "api/submit.h"
#include "api/variable.h"

static cudaError_t allocate_host(void **memory, size_t bytes, unsigned flags)
{
    const unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (flags & ~known)
        return sim_fail(cudaErrorInvalidValue, "0x%x is not a flag of cudaHostAlloc", flags);
    return sim_allocate(memory, bytes, SIM_MEMORY_PINNED);
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    return SIM_CALL(allocate_host(memory, bytes, cudaHostAllocDefault));
}

cudaError_t sim_malloc_host(void **memory, size_t bytes, unsigned int flags)
{
    return SIM_CALL_AS("cudaMallocHost", allocate_host(memory, bytes, flags));
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned int flags)
{
    return SIM_CALL(allocate_host(memory, bytes, flags));
}

SIM_API(cudaHostGetDevicePointer, (void **device, void *host, unsigned int flags), (device, host, flags))
{
    (void)flags;
    sim_allocation found;
    if (device == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the pointer is NULL");
    *device = NULL;
    const sim_where where = sim_pointer_where(host, &found);
    if (where != SIM_AT_PINNED && where != SIM_AT_MANAGED)
        return sim_fail(cudaErrorInvalidValue, "this is %s: only pinned host memory has a device pointer",
                        sim_where_words(where));
    *device = host;
    return cudaSuccess;
}

// With unified addressing all pinned memory is mapped and portable.
SIM_API(cudaHostGetFlags, (unsigned int *flags, void *host), (flags, host))
{
    sim_allocation found;
    if (flags == NULL || sim_pointer_where(host, &found) != SIM_AT_PINNED)
        return sim_fail(cudaErrorInvalidValue, "this is not pinned host memory");
    *flags = cudaHostAllocPortable | cudaHostAllocMapped;
    return cudaSuccess;
}

// --- managed memory: where it should be is advice, and nothing moves here -------------------------------------------

static cudaError_t check_managed(const void *memory, size_t bytes, struct cudaMemLocation location)
{
    sim_where where = SIM_AT_NOTHING;
    const cudaError_t error = sim_pointer_check(memory, bytes, "memory", &where);
    if (error != cudaSuccess)
        return error;
    if (where != SIM_AT_MANAGED)
        return sim_fail(cudaErrorInvalidValue, "this is %s: only managed memory moves", sim_where_words(where));
    if (location.type == cudaMemLocationTypeDevice && location.id != 0)
        return sim_fail(cudaErrorInvalidDevice, "there is no device %d", location.id);
    return cudaSuccess;
}

static cudaError_t prefetch(const void *memory, size_t bytes, struct cudaMemLocation location, cudaStream_t handle)
{
    struct CUstream_st *stream = sim_stream_of(handle);
    const cudaError_t error = check_managed(memory, bytes, location);
    if (stream == NULL || error != cudaSuccess)
        return stream == NULL ? cudaErrorInvalidResourceHandle : error;
    sim_work nothing = sim_work_new(SIM_WORK_NOTHING);
    return sim_stream_submit(stream, &nothing);
}

cudaError_t sim_memory_prefetch(const void *memory, size_t bytes, struct cudaMemLocation location, cudaStream_t stream)
{
    return SIM_CALL_AS("cudaMemPrefetchAsync", prefetch(memory, bytes, location, stream));
}

cudaError_t sim_memory_advise(const void *memory, size_t bytes, enum cudaMemoryAdvise advice,
                              struct cudaMemLocation location)
{
    if (advice == cudaMemAdviseSetReadMostly || advice == cudaMemAdviseUnsetReadMostly)
        location.type = cudaMemLocationTypeNone; // the location is not looked at
    return SIM_CALL_AS("cudaMemAdvise", check_managed(memory, bytes, location));
}

SIM_API(cudaMemRangeGetAttribute,
        (void *data, size_t data_bytes, enum cudaMemRangeAttribute attribute, const void *memory, size_t bytes),
        (data, data_bytes, attribute, memory, bytes))
{
    (void)attribute;
    const struct cudaMemLocation anywhere = {cudaMemLocationTypeNone, 0};
    if (data == NULL || data_bytes < sizeof(int))
        return sim_fail(cudaErrorInvalidValue, "there is no room for the attribute");
    *(int *)data = 0;
    return check_managed(memory, bytes, anywhere);
}

SIM_API(cudaStreamAttachMemAsync, (cudaStream_t handle, void *memory, size_t bytes, unsigned int flags),
        (handle, memory, bytes, flags))
{
    (void)bytes;
    (void)flags;
    const struct cudaMemLocation anywhere = {cudaMemLocationTypeNone, 0};
    if (sim_stream_of(handle) == NULL)
        return cudaErrorInvalidResourceHandle;
    return check_managed(memory, 1, anywhere);
}
