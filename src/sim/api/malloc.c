// Allocating and freeing: cudaMalloc and the like. Where memory comes from is memory/'s business; pools are in pool.c.
#include <stdio.h>

#include "api/allocate.h"
#include "api/call.h"
#include "api/capture.h"
#include "api/host_access.h"
#include "api/pointer.h"
#include "api/run.h"
#include "api/stream.h"
#include "api/variable.h"
#include "report/report.h"
#include "watch/watch.h"

// Rows of pitched memory start at multiples of this, as on every card.
enum { PITCH = 512 };

cudaError_t sim_allocate(void **memory, size_t bytes, sim_memory_kind kind)
{
    if (memory == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the pointer is NULL");
    if (sim_capture_global()) {
        sim_capture_invalidate_all();
        return sim_fail(cudaErrorStreamCaptureUnsupported, "a stream is capturing a graph: allocate before or after");
    }
    *memory = NULL;
    if (bytes == 0)
        return cudaSuccess;
    if (kind == SIM_MEMORY_PINNED || kind == SIM_MEMORY_MANAGED)
        sim_variable_memory_shared();
    sim_host_access_start();
    *memory = sim_watch_allocate(bytes, kind, sim_call_pc(), sim_call_function());
    if (*memory != NULL)
        return cudaSuccess;
    return sim_fail_as(SIM_BAD_CALL, SIM_WARNING, cudaErrorMemoryAllocation, 0, 0,
                       "%zu bytes requested, but only %zu of the GPU's %zu are free", bytes, sim_memory_free(),
                       sim_memory_total());
}

void *sim_allocate_for_graph(size_t bytes)
{
    return sim_watch_allocate(bytes, SIM_MEMORY_GRAPH, sim_call_pc(), "a node of a graph");
}

void sim_allocate_again(void *memory, bool frees_first, uintptr_t pc)
{
    sim_allocation found;
    if (sim_memory_find((uintptr_t)memory, &found)) {
        if (!frees_first) {
            sim_finding finding = {.kind = SIM_BAD_CALL,
                                   .tier = SIM_ERROR,
                                   .address = found.start,
                                   .bytes = found.bytes,
                                   .place[0] = {.pc = pc, .role = "call"}};
            snprintf(finding.message, sizeof finding.message,
                     "cudaGraphLaunch fails with cudaErrorInvalidValue: the graph's last launch allocated memory that "
                     "has not been freed, and the graph is not instantiated with "
                     "cudaGraphInstantiateFlagAutoFreeOnLaunch");
            sim_report(&finding);
        }
        sim_watch_release((uintptr_t)memory, pc);
    }
    sim_watch_retake((uintptr_t)memory);
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    return SIM_CALL(sim_allocate(memory, bytes, SIM_MEMORY_DEVICE));
}

SIM_API(cudaMallocManaged, (void **memory, size_t bytes, unsigned int flags), (memory, bytes, flags))
{
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
        return sim_fail(cudaErrorInvalidValue,
                        "managed memory is attached to cudaMemAttachGlobal or cudaMemAttachHost");
    return sim_allocate(memory, bytes, SIM_MEMORY_MANAGED);
}

static size_t pitch_of(size_t width)
{
    return (width + PITCH - 1) / PITCH * PITCH;
}

static cudaError_t allocate_pitched(void **memory, size_t *pitch, size_t width, size_t height)
{
    if (pitch == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the pitch is NULL");
    *pitch = pitch_of(width);
    return sim_allocate(memory, *pitch * height, SIM_MEMORY_DEVICE);
}

cudaError_t cudaMallocPitch(void **memory, size_t *pitch, size_t width, size_t height)
{
    return SIM_CALL(allocate_pitched(memory, pitch, width, height));
}

SIM_API(cudaMalloc3D, (struct cudaPitchedPtr * memory, struct cudaExtent extent), (memory, extent))
{
    if (memory == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the pointer is NULL");
    memory->xsize = extent.width;
    memory->ysize = extent.height;
    return allocate_pitched(&memory->ptr, &memory->pitch, extent.width, extent.height * extent.depth);
}

// --- freeing --------------------------------------------------------------------------------------------------------

static cudaError_t refuse_free(uintptr_t address, const char *why)
{
    sim_memory_refuse(address);
    return sim_fail_as(SIM_INVALID_FREE, SIM_ERROR, cudaErrorInvalidValue, address, 0, "%s", why);
}

static const char freed_already[] = "the memory has been freed already";

cudaError_t sim_free_check(void *memory, bool pinned)
{
    const uintptr_t address = (uintptr_t)memory;
    sim_allocation found;
    if (!sim_memory_find_kept(address, &found)) {
        const bool known = sim_memory_nearest(address, &found);
        if (known && !found.live && address - found.start < found.bytes)
            return refuse_free(address, freed_already);
        return refuse_free(address, "CUDA did not allocate this memory");
    }
    if (found.start != address)
        return refuse_free(address, "the pointer is not the start of the allocation");
    if (found.kind == SIM_MEMORY_HEAP)
        return refuse_free(address, "a kernel allocated this memory: only a kernel can free it");
    if (found.kind == SIM_MEMORY_VIRTUAL)
        return refuse_free(address, "cuMemMap mapped this memory: unmap it with cuMemUnmap");
    if (pinned && found.kind != SIM_MEMORY_PINNED)
        return refuse_free(address, "this is device memory: free it with cudaFree");
    if (!pinned && found.kind == SIM_MEMORY_PINNED)
        return refuse_free(address, "this is pinned host memory: free it with cudaFreeHost");
    return cudaSuccess;
}

cudaError_t sim_free_check_in_graph(void *memory)
{
    sim_allocation found;
    const cudaError_t error = sim_free_check(memory, false);
    if (error != cudaSuccess)
        return error;
    if (sim_memory_find_kept((uintptr_t)memory, &found) && found.kind != SIM_MEMORY_GRAPH)
        return refuse_free((uintptr_t)memory, "a graph can only free what a node of a graph has allocated");
    return cudaSuccess;
}

// Two frees may be queued before the first of them runs.
void sim_free_now(void *memory, uintptr_t pc, const char *function)
{
    if (sim_watch_release((uintptr_t)memory, pc))
        return;
    sim_allocation found = {0};
    const bool unused = sim_memory_nearest((uintptr_t)memory, &found) && found.freed_at == 0;
    sim_finding finding = {.kind = SIM_INVALID_FREE,
                           .tier = SIM_ERROR,
                           .address = (uintptr_t)memory,
                           .place = {{.pc = pc, .role = "call"}, {.pc = found.freed_at, .role = "freed"}}};
    snprintf(finding.message, sizeof finding.message, "%s: %s", function,
             unused ? "the graph that allocates this memory has not run" : freed_already);
    sim_report(&finding);
}

// Freeing waits for the device, as CUDA does.
static cudaError_t free_now(void *memory, bool pinned)
{
    if (memory == NULL)
        return cudaSuccess;
    cudaError_t error = sim_free_check(memory, pinned);
    if (error != cudaSuccess)
        return error;
    if (sim_capture_global())
        return sim_fail(cudaErrorStreamCaptureUnsupported, "a stream is capturing a graph: free before or after");
    error = sim_device_wait();
    sim_free_now(memory, sim_call_pc(), sim_call_function());
    return error;
}

cudaError_t cudaFree(void *memory)
{
    return SIM_CALL(free_now(memory, false));
}

cudaError_t cudaFreeHost(void *memory)
{
    return SIM_CALL(free_now(memory, true));
}

// --- asking ---------------------------------------------------------------------------------------------------------

SIM_API(cudaMemGetInfo, (size_t * free_bytes, size_t *total_bytes), (free_bytes, total_bytes))
{
    if (free_bytes == NULL || total_bytes == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for a result is NULL");
    *free_bytes = sim_memory_free();
    *total_bytes = sim_memory_total();
    return cudaSuccess;
}

SIM_API(cudaPointerGetAttributes, (struct cudaPointerAttributes * attributes, const void *pointer),
        (attributes, pointer))
{
    if (attributes == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the attributes is NULL");
    void *same = (void *)(uintptr_t)pointer;
    sim_allocation found;
    const sim_where where = sim_pointer_where(pointer, &found);
    *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered, .device = cudaInvalidDeviceId};
    switch (where) {
    case SIM_AT_DEVICE:
    case SIM_AT_SYMBOL:
        *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeDevice, .devicePointer = same};
        break;
    case SIM_AT_PINNED:
        *attributes =
            (struct cudaPointerAttributes){.type = cudaMemoryTypeHost, .devicePointer = same, .hostPointer = same};
        break;
    case SIM_AT_MANAGED:
        *attributes =
            (struct cudaPointerAttributes){.type = cudaMemoryTypeManaged, .devicePointer = same, .hostPointer = same};
        break;
    case SIM_AT_VARIABLE:
    case SIM_AT_HOST: attributes->hostPointer = same; break;
    case SIM_AT_NOTHING: return sim_pointer_stale(pointer, 1, "pointer");
    }
    return cudaSuccess;
}

// --- leaks ----------------------------------------------------------------------------------------------------------

static void report_leak(const sim_allocation *allocation, void *context)
{
    (void)context;
    if (!allocation->live || allocation->kind == SIM_MEMORY_HEAP || allocation->kind == SIM_MEMORY_VIRTUAL ||
        allocation->kind == SIM_MEMORY_GRAPH || allocation->free_refused) // one mistake, which has been told
        return;
    sim_finding finding = {.kind = SIM_LEAK,
                           .tier = SIM_WARNING,
                           .address = allocation->start,
                           .bytes = allocation->bytes,
                           .place[0] = {.pc = allocation->allocated_at, .role = "allocated"}};
    snprintf(finding.message, sizeof finding.message, "%zu byte%s from %s %s never freed", allocation->bytes,
             allocation->bytes == 1 ? "" : "s", allocation->function, allocation->bytes == 1 ? "is" : "are");
    sim_report(&finding);
}

static void report_leaks(void)
{
    // After a fault in a kernel the program cannot free anything any more.
    if (sim_error_broken() == cudaSuccess)
        sim_memory_each(report_leak, NULL);
}

__attribute__((constructor(102))) static void start(void)
{
    sim_report_at_end(SIM_END_LEAKS, report_leaks);
}
