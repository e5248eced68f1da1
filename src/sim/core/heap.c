// malloc and free in a kernel, in a file of its own: blocks see each other through the heap, so programs that use it
// run on one worker. Each allocation is one of the card's, so that it is checked like any other.
#include <stdio.h>

#include "core/core.h"
#include "findings/finding.h"
#include "machine/options.h"
#include "machine/worker.h"
#include "memory/memory.h"
#include "watch/watch.h"

size_t sim_heap_limit = (size_t)8 << 20; // CUDA's default
static size_t heap_used;

__attribute__((constructor)) static void announce(void)
{
    sim_program_uses |= SIM_USES_HEAP;
    sim_use_tell(SIM_USES_HEAP, (uintptr_t)sim_device_malloc);
    sim_use_tell(SIM_USES_HEAP, (uintptr_t)sim_device_free);
}

void *sim_device_malloc(size_t bytes)
{
    const uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    if (bytes == 0 || bytes > sim_heap_limit - __atomic_load_n(&heap_used, __ATOMIC_RELAXED))
        return NULL;
    void *memory = sim_watch_allocate(bytes, SIM_MEMORY_HEAP, pc, "malloc in a kernel");
    if (memory != NULL) {
        __atomic_fetch_add(&heap_used, bytes, __ATOMIC_RELAXED);
        sim_thread_acts(sim_current);
    }
    return memory;
}

static void refuse(uintptr_t address, uintptr_t pc, const char *why)
{
    const sim_worker *worker = sim_current;
    sim_finding finding = sim_finding_of(worker, SIM_INVALID_FREE, SIM_ERROR);
    finding.address = address;
    finding.place[0] = sim_place_of(worker, worker->thread, pc, "free");
    snprintf(finding.message, sizeof finding.message, "free in a kernel: %s", why);
    sim_report(&finding);
}

void sim_device_free(void *memory)
{
    const uintptr_t pc = (uintptr_t)__builtin_return_address(0), address = (uintptr_t)memory;
    sim_allocation found;
    if (memory == NULL)
        return;
    if (!sim_memory_find(address, &found)) {
        const bool freed = sim_memory_nearest(address, &found) && !found.live && address - found.start < found.bytes;
        refuse(address, pc, freed ? "the memory has been freed already" : "this memory is not from malloc in a kernel");
        return;
    }
    if (found.kind != SIM_MEMORY_HEAP || found.start != address) {
        refuse(address, pc,
               found.start != address ? "the pointer is not the start of the allocation"
                                      : "the host allocated this memory: only the host can free it");
        return;
    }
    __atomic_fetch_sub(&heap_used, found.bytes, __ATOMIC_RELAXED);
    sim_thread_acts(sim_current);
    sim_watch_release(address, pc);
}
