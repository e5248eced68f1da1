// Memory pools and allocation in the order of a stream. A pool is a budget: memory comes from the card as it is asked
// for, and is free again when the stream reaches the free.
#include <stdlib.h>

#include "api/allocate.h"
#include "api/call.h"
#include "api/capture.h"
#include "api/device.h"
#include "api/graph.h"
#include "api/pointer.h"
#include "api/stream.h"
#include "api/submit.h"

struct CUmemPoolHandle_st {
    struct CUmemPoolHandle_st *next;
    bool live;
    struct cudaMemPoolProps properties;
    uint64_t release_threshold, used_high;
    int reuse[cudaMemPoolReuseAllowInternalDependencies + 1];
};

static struct CUmemPoolHandle_st standard = {.live = true, .reuse = {0, 1, 1, 1}};
static struct CUmemPoolHandle_st *pools = &standard;
static cudaMemPool_t chosen = &standard;

static cudaMemPool_t pool_of(cudaMemPool_t handle)
{
    for (cudaMemPool_t pool = pools; pool != NULL; pool = pool->next) {
        if (pool == handle && pool->live)
            return pool;
    }
    sim_fail(cudaErrorInvalidValue, "there is no such memory pool");
    return NULL;
}

static cudaError_t give(cudaMemPool_t *pool, cudaMemPool_t which, int device)
{
    const cudaError_t error = sim_device_check(device);
    if (error == cudaSuccess && pool == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the pool is NULL");
    if (error == cudaSuccess)
        *pool = which;
    return error;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    return SIM_CALL(give(pool, &standard, device));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    return SIM_CALL(give(pool, chosen, device));
}

SIM_API(cudaDeviceSetMemPool, (int device, cudaMemPool_t pool), (device, pool))
{
    const cudaError_t error = sim_device_check(device);
    if (error != cudaSuccess || pool_of(pool) == NULL)
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    chosen = pool;
    return cudaSuccess;
}

SIM_API(cudaMemPoolCreate, (cudaMemPool_t * pool, const struct cudaMemPoolProps *properties), (pool, properties))
{
    if (pool == NULL || properties == NULL)
        return sim_fail(cudaErrorInvalidValue, "the %s is NULL",
                        pool == NULL ? "output argument for the pool" : "properties");
    cudaMemPool_t made = calloc(1, sizeof *made);
    if (made == NULL)
        return sim_no_memory();
    *made = standard;
    made->properties = *properties;
    made->next = pools;
    pools = made;
    *pool = made;
    return cudaSuccess;
}

SIM_API(cudaMemPoolDestroy, (cudaMemPool_t handle), (handle))
{
    cudaMemPool_t pool = pool_of(handle);
    if (pool == NULL)
        return cudaErrorInvalidValue;
    if (pool == &standard)
        return sim_fail(cudaErrorInvalidValue, "the default pool cannot be destroyed");
    pool->live = false;
    if (chosen == pool)
        chosen = &standard;
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep)
{
    (void)bytes_to_keep; // nothing is kept beyond what is in use
    return SIM_CALL(pool_of(pool) != NULL ? cudaSuccess : cudaErrorInvalidValue);
}

SIM_API(cudaMemPoolSetAttribute, (cudaMemPool_t handle, enum cudaMemPoolAttr attribute, void *value),
        (handle, attribute, value))
{
    cudaMemPool_t pool = pool_of(handle);
    if (pool == NULL || value == NULL)
        return cudaErrorInvalidValue;
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies: pool->reuse[attribute] = *(const int *)value; break;
    case cudaMemPoolAttrReleaseThreshold: pool->release_threshold = *(const uint64_t *)value; break;
    case cudaMemPoolAttrUsedMemHigh: pool->used_high = sim_memory_used(); break;
    case cudaMemPoolAttrReservedMemHigh: break;
    default: return sim_fail(cudaErrorInvalidValue, "the attribute can only be read");
    }
    return cudaSuccess;
}

SIM_API(cudaMemPoolGetAttribute, (cudaMemPool_t handle, enum cudaMemPoolAttr attribute, void *value),
        (handle, attribute, value))
{
    const struct CUmemPoolHandle_st *pool = pool_of(handle);
    if (pool == NULL || value == NULL)
        return cudaErrorInvalidValue;
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies: *(int *)value = pool->reuse[attribute]; break;
    case cudaMemPoolAttrReleaseThreshold: *(uint64_t *)value = pool->release_threshold; break;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent: *(uint64_t *)value = sim_memory_used(); break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
        *(uint64_t *)value = pool->used_high > sim_memory_used() ? pool->used_high : sim_memory_used();
        break;
    }
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t count)
{
    (void)list, (void)count;
    return SIM_CALL(pool_of(pool) != NULL ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool, struct cudaMemLocation *location)
{
    (void)location;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return SIM_CALL(pool_of(pool) != NULL ? cudaSuccess : cudaErrorInvalidValue);
}

// --- allocating and freeing -----------------------------------------------------------------------------------------

// While a graph is captured the memory belongs to the graph: it is there from now on, and its node says so.
static cudaError_t allocate_captured(struct CUstream_st *stream, void **memory, size_t bytes)
{
    *memory = sim_allocate_for_graph(bytes);
    if (*memory == NULL)
        return cudaErrorMemoryAllocation;
    return sim_capture_allocation(stream, *memory, bytes);
}

static cudaError_t allocate(void **memory, size_t bytes, cudaMemPool_t handle, cudaStream_t stream_handle)
{
    struct CUstream_st *stream = sim_stream_of(stream_handle);
    cudaMemPool_t pool = pool_of(handle);
    if (stream == NULL || pool == NULL)
        return stream == NULL ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    if (stream->capture != NULL && memory != NULL)
        return allocate_captured(stream, memory, bytes);
    const size_t most = pool->properties.maxSize;
    if (most > 0 && sim_memory_used() + bytes > most)
        return sim_fail_as(SIM_BAD_CALL, SIM_WARNING, cudaErrorMemoryAllocation, 0, 0,
                           "%zu bytes requested, but the pool is limited to %zu", bytes, most);
    const cudaError_t error = sim_allocate(memory, bytes, SIM_MEMORY_DEVICE);
    if (pool->used_high < sim_memory_used())
        pool->used_high = sim_memory_used();
    if (error != cudaSuccess || *memory == NULL)
        return error;
    sim_work work = sim_work_new(SIM_WORK_GIVE);
    work.memory = *memory;
    return sim_stream_submit(stream, &work);
}

cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream)
{
    return SIM_CALL(allocate(memory, bytes, chosen, stream));
}

cudaError_t cudaMallocFromPoolAsync(void **memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    return SIM_CALL(allocate(memory, bytes, pool, stream));
}

SIM_API(cudaFreeAsync, (void *memory, cudaStream_t handle), (memory, handle))
{
    struct CUstream_st *stream = sim_stream_of(handle);
    if (stream == NULL)
        return cudaErrorInvalidResourceHandle;
    if (memory == NULL)
        return cudaSuccess;
    const cudaError_t error = sim_free_check(memory, false);
    if (error != cudaSuccess)
        return error;
    sim_work work = sim_work_new(SIM_WORK_FREE);
    work.memory = memory;
    return sim_stream_submit(stream, &work);
}
