// The driver API's virtual memory management. What is mapped and opened side by side in one reservation is one
// allocation to the rest of the simulator. Memory that is mapped nowhere waits at an address of its own, which no
// program hears of.
#include "sim/driver_virtual.h"

#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/device.h"
#include "api/host_access.h"
#include "api/run.h"
#include "watch/watch.h"

enum { GRANULARITY = 2 << 20 }; // as on every card

typedef struct physical {
    struct physical *next;
    uintptr_t home;
    size_t bytes;
    CUmemAllocationProp properties;
    int references; // by the program: cuMemCreate and cuMemRetainAllocationHandle
    bool mapped, filled;
} physical;

typedef struct mapping {
    struct mapping *next; // by address
    uintptr_t start;
    size_t bytes;
    physical *memory;
    uintptr_t pc;
    bool open;
} mapping;

typedef struct reservation {
    struct reservation *next;
    uintptr_t start;
    size_t bytes;
    mapping *mappings;
} reservation;

static physical *memories;
static reservation *reservations;

#define DRIVER_API(name, parameters, arguments)                                                                        \
    static cudaError_t name##_body parameters;                                                                         \
    CUresult name parameters                                                                                           \
    {                                                                                                                  \
        return (CUresult)SIM_CALL(name##_body arguments);                                                              \
    }                                                                                                                  \
    static cudaError_t name##_body parameters

static physical *memory_of(CUmemGenericAllocationHandle handle)
{
    for (physical *one = memories; one != NULL; one = one->next) {
        if ((CUmemGenericAllocationHandle)(uintptr_t)one == handle && one->references > 0)
            return one;
    }
    sim_fail(cudaErrorInvalidValue, "there is no such memory; was it made by cuMemCreate, has it been released?");
    return NULL;
}

static reservation *reservation_of(uintptr_t start, size_t bytes)
{
    for (reservation *one = reservations; one != NULL; one = one->next) {
        if (start - one->start < one->bytes && bytes <= one->bytes - (start - one->start))
            return one;
    }
    sim_fail(cudaErrorInvalidValue, "cuMemAddressReserve has not reserved these addresses");
    return NULL;
}

static cudaError_t check_size(size_t bytes)
{
    if (bytes > 0 && bytes % GRANULARITY == 0)
        return cudaSuccess;
    return sim_fail(cudaErrorInvalidValue,
                    "%zu bytes are not a multiple of %d (see cuMemGetAllocationGranularity), or none", bytes,
                    GRANULARITY);
}

// --- addresses -------------------------------------------------------------------------------------------------------

static cudaError_t check_properties(const CUmemAllocationProp *wanted)
{
    if (wanted == NULL)
        return sim_fail(cudaErrorInvalidValue, "the properties are NULL");
    if (wanted->type != CU_MEM_ALLOCATION_TYPE_PINNED || wanted->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return sim_fail(cudaErrorNotSupported, "the simulated GPU maps memory of type CU_MEM_ALLOCATION_TYPE_PINNED at "
                                               "CU_MEM_LOCATION_TYPE_DEVICE only");
    return sim_device_check(wanted->location.id);
}

DRIVER_API(cuMemGetAllocationGranularity,
           (size_t * granularity, const CUmemAllocationProp *wanted, CUmemAllocationGranularity_flags which),
           (granularity, wanted, which))
{
    (void)which;
    const cudaError_t error = check_properties(wanted);
    if (error != cudaSuccess)
        return error;
    if (granularity == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the granularity is NULL");
    *granularity = GRANULARITY;
    return cudaSuccess;
}

DRIVER_API(cuMemAddressReserve,
           (CUdeviceptr * start, size_t bytes, size_t alignment, CUdeviceptr near, unsigned long long flags),
           (start, bytes, alignment, near, flags))
{
    (void)near, (void)flags; // a wish
    const cudaError_t error = check_size(bytes);
    if (error != cudaSuccess)
        return error;
    if (start == NULL || (alignment & (alignment - 1)) != 0)
        return sim_fail(cudaErrorInvalidValue, start == NULL ? "the output argument for the addresses is NULL"
                                                             : "the alignment is not a power of two");
    reservation *made = calloc(1, sizeof *made);
    if (made == NULL)
        return sim_no_memory();
    made->bytes = bytes;
    made->start = sim_memory_reserve(bytes, alignment > GRANULARITY ? alignment : GRANULARITY);
    if (made->start == 0) {
        free(made);
        return sim_fail(cudaErrorMemoryAllocation, "%zu bytes of addresses requested, which are not left", bytes);
    }
    made->next = reservations;
    reservations = made;
    *start = made->start;
    return cudaSuccess;
}

DRIVER_API(cuMemAddressFree, (CUdeviceptr start, size_t bytes), (start, bytes))
{
    reservation *one = reservation_of(start, bytes), **link = &reservations;
    if (one == NULL)
        return cudaErrorInvalidValue;
    if (one->start != start || one->bytes != bytes)
        return sim_fail(cudaErrorInvalidValue, "the addresses were not reserved by one call for as many bytes");
    if (one->mappings != NULL)
        return sim_fail(cudaErrorInvalidValue, "memory is mapped to the addresses: unmap it first");
    while (*link != one)
        link = &(*link)->next;
    *link = one->next;
    sim_memory_unreserve(one->start);
    free(one);
    return cudaSuccess;
}

// --- memory ----------------------------------------------------------------------------------------------------------

static void drop_if_unused(physical *memory)
{
    if (memory->references > 0 || memory->mapped)
        return;
    physical **link = &memories;
    while (*link != memory)
        link = &(*link)->next;
    *link = memory->next;
    sim_watch_release(memory->home, sim_call_pc());
    free(memory);
}

DRIVER_API(cuMemCreate,
           (CUmemGenericAllocationHandle * handle, size_t bytes, const CUmemAllocationProp *wanted,
            unsigned long long flags),
           (handle, bytes, wanted, flags))
{
    (void)flags;
    if (handle == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the memory is NULL");
    cudaError_t error = check_properties(wanted);
    if (error == cudaSuccess)
        error = check_size(bytes);
    if (error != cudaSuccess)
        return error;
    physical *made = calloc(1, sizeof *made);
    if (made == NULL)
        return sim_no_memory();
    sim_host_access_start();
    made->home = (uintptr_t)sim_watch_allocate(bytes, SIM_MEMORY_DEVICE, sim_call_pc(), sim_call_function());
    if (made->home == 0) {
        free(made);
        return sim_fail_as(SIM_BAD_CALL, SIM_WARNING, cudaErrorMemoryAllocation, 0, 0,
                           "%zu bytes requested, but only %zu of the GPU's %zu are free", bytes, sim_memory_free(),
                           sim_memory_total());
    }
    made->bytes = bytes;
    made->properties = *wanted;
    made->references = 1;
    made->next = memories;
    memories = made;
    *handle = (uintptr_t)made;
    return cudaSuccess;
}

DRIVER_API(cuMemRelease, (CUmemGenericAllocationHandle handle), (handle))
{
    physical *memory = memory_of(handle);
    if (memory == NULL)
        return cudaErrorInvalidValue;
    memory->references--;
    drop_if_unused(memory);
    return cudaSuccess;
}

DRIVER_API(cuMemGetAllocationPropertiesFromHandle,
           (CUmemAllocationProp * properties, CUmemGenericAllocationHandle handle), (properties, handle))
{
    const physical *memory = memory_of(handle);
    if (memory == NULL || properties == NULL)
        return cudaErrorInvalidValue;
    *properties = memory->properties;
    return cudaSuccess;
}

// --- mapping ---------------------------------------------------------------------------------------------------------

// Where a run of mappings that are open and lie side by side ends; NULL: with the last one.
static const mapping *end_of_run(const mapping *first)
{
    const mapping *last = first;
    while (last->next != NULL && last->next->open && last->next->start == last->start + last->bytes)
        last = last->next;
    return last;
}

static void hide(const reservation *all)
{
    for (const mapping *one = all->mappings; one != NULL; one = one->next) {
        if (!one->open)
            continue;
        sim_memory_hide(one->start, sim_call_pc());
        one = end_of_run(one);
    }
}

static cudaError_t expose(const reservation *all)
{
    for (const mapping *one = all->mappings; one != NULL; one = one->next) {
        if (!one->open)
            continue;
        const mapping *last = end_of_run(one);
        if (!sim_watch_expose(one->start, last->start + last->bytes - one->start, one->pc, "cuMemMap"))
            return sim_no_memory();
        one = last;
    }
    return cudaSuccess;
}

// The link to the first mapping that ends behind `start`.
static mapping **link_at(reservation *all, uintptr_t start)
{
    mapping **link = &all->mappings;
    while (*link != NULL && (*link)->start + (*link)->bytes <= start)
        link = &(*link)->next;
    return link;
}

// Whether mappings begin at `start`, lie side by side, and end behind `bytes`.
static bool covers(const mapping *first, uintptr_t start, size_t bytes)
{
    const uintptr_t end = start + bytes;
    for (const mapping *one = first; one != NULL && one->start == start; one = one->next) {
        start += one->bytes;
        if (start >= end)
            return start == end;
    }
    return false;
}

DRIVER_API(cuMemMap,
           (CUdeviceptr start, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
            unsigned long long flags),
           (start, bytes, offset, handle, flags))
{
    (void)flags;
    const cudaError_t error = check_size(bytes);
    physical *memory = error == cudaSuccess ? memory_of(handle) : NULL;
    reservation *all = memory != NULL ? reservation_of(start, bytes) : NULL;
    if (all == NULL)
        return cudaErrorInvalidValue;
    if (offset != 0 || start % GRANULARITY != 0 || bytes > memory->bytes)
        return sim_fail(cudaErrorInvalidValue,
                        "the offset is not 0, the address is not a multiple of %d, or the memory has only %zu bytes",
                        GRANULARITY, memory->bytes);
    if (memory->mapped)
        return sim_fail(cudaErrorNotSupported,
                        "the memory is mapped already: the simulated GPU maps memory to one range at a time");
    mapping **link = link_at(all, start);
    if (*link != NULL && (*link)->start < start + bytes)
        return sim_fail(cudaErrorInvalidValue, "memory is mapped to these addresses already");
    mapping *made = calloc(1, sizeof *made);
    if (made == NULL)
        return sim_no_memory();
    *made =
        (mapping){.next = *link, .start = start, .bytes = bytes, .memory = memory, .pc = sim_call_pc(), .open = false};
    *link = made;
    memory->mapped = true;
    if (memory->filled) {
        sim_watch_copied(start, memory->home, bytes);
        memcpy((void *)(uintptr_t)start, (const void *)memory->home, bytes);
    }
    return cudaSuccess;
}

DRIVER_API(cuMemSetAccess, (CUdeviceptr start, size_t bytes, const CUmemAccessDesc *access, size_t count),
           (start, bytes, access, count))
{
    reservation *all = reservation_of(start, bytes);
    if (all == NULL || access == NULL || count != 1)
        return all == NULL ? cudaErrorInvalidValue
                           : sim_fail(cudaErrorInvalidValue, "there is one location to describe: the device");
    if (access->location.type != CU_MEM_LOCATION_TYPE_DEVICE || access->flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
        return sim_fail(cudaErrorNotSupported,
                        "the simulated GPU opens memory for reading and writing by the device, or not at all");
    const cudaError_t error = sim_device_check(access->location.id);
    if (error != cudaSuccess)
        return error;
    mapping *first = *link_at(all, start);
    if (!covers(first, start, bytes))
        return sim_fail(cudaErrorInvalidValue, "memory is mapped to a part of these addresses, or to more");
    hide(all);
    for (mapping *one = first; one != NULL && one->start < start + bytes; one = one->next)
        one->open = access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return expose(all);
}

// What the memory holds goes with it, if anybody can map it again.
static void leave(mapping *one)
{
    physical *memory = one->memory;
    if (memory->references > 0) {
        sim_watch_copied(memory->home, one->start, one->bytes);
        memcpy((void *)memory->home, (const void *)one->start, one->bytes);
        memory->filled = true;
    }
    memory->mapped = false;
    sim_watch_discard(one->start, one->bytes);
    drop_if_unused(memory);
    free(one);
}

DRIVER_API(cuMemUnmap, (CUdeviceptr start, size_t bytes), (start, bytes))
{
    reservation *all = reservation_of(start, bytes);
    if (all == NULL)
        return cudaErrorInvalidValue;
    mapping **link = link_at(all, start);
    if (!covers(*link, start, bytes))
        return sim_fail(cudaErrorInvalidValue, "memory is mapped to a part of these addresses, or to more");
    sim_device_wait();
    hide(all);
    while (*link != NULL && (*link)->start < start + bytes) {
        mapping *gone = *link;
        *link = gone->next;
        leave(gone);
    }
    return expose(all);
}

static const mapping *mapping_at(uintptr_t address)
{
    reservation *all = reservation_of(address, 1);
    const mapping *found = all != NULL ? *link_at(all, address) : NULL;
    if (found != NULL && found->start <= address)
        return found;
    if (all != NULL)
        sim_fail(cudaErrorInvalidValue, "no memory is mapped to this address");
    return NULL;
}

DRIVER_API(cuMemGetAccess, (unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address),
           (flags, location, address))
{
    (void)location;
    const mapping *found = mapping_at(address);
    if (found == NULL || flags == NULL)
        return cudaErrorInvalidValue;
    *flags = found->open ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return cudaSuccess;
}

DRIVER_API(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle * handle, void *address), (handle, address))
{
    const mapping *found = mapping_at((uintptr_t)address);
    if (found == NULL || handle == NULL)
        return cudaErrorInvalidValue;
    found->memory->references++;
    *handle = (uintptr_t)found->memory;
    return cudaSuccess;
}

// --- other processes -------------------------------------------------------------------------------------------------

static cudaError_t refuse_sharing(void)
{
    return sim_fail(cudaErrorNotSupported, "the simulated GPU is one process's: memory cannot be shared with others");
}

CUresult cuMemExportToShareableHandle(void *shared, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                                      unsigned long long flags)
{
    (void)shared, (void)handle, (void)type, (void)flags;
    return (CUresult)SIM_CALL(refuse_sharing());
}

// NOLINTNEXTLINE(readability-non-const-parameter): the type is CUDA's
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shared,
                                        CUmemAllocationHandleType type)
{
    (void)handle, (void)shared, (void)type;
    return (CUresult)SIM_CALL(refuse_sharing());
}
