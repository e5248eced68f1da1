// What an address belongs to: an allocation, a __shared__ or a __device__ variable, or the host's memory. The space is
// found when the finding is made; allocations have no name here, only the call that made them.
#define _GNU_SOURCE 1
#include <string.h>

#include "machine/worker.h"
#include "memory/memory.h"
#include "memory/sections.h"
#include "report/internal.h"
#include "watch/watch.h"

enum { NULL_PAGES = 65536 }; // a null pointer with an index

static bool between(uintptr_t address, uintptr_t low, uintptr_t high)
{
    return address >= low && address < high;
}

static void describe_symbol(sim_described *memory, const char *space, const sim_symbol *symbol, uintptr_t address)
{
    memory->space = space;
    memory->bytes = symbol->bytes;
    memory->offset = (int64_t)(address - symbol->start);
    memcpy(memory->name, symbol->name, sizeof memory->name);
}

// The worker in whose thread-local segment, and so in whose block's shared memory, an address lies. A finding that was
// held back is reported when no kernel runs any more.
static const sim_worker *worker_of(uintptr_t address)
{
    if (sim_current)
        return sim_current;
    for (int i = 0; i < sim_workers; i++) {
        const sim_worker *worker = sim_worker_at(i);
        if (worker && between(address, worker->thread_local_lo, worker->thread_local_hi))
            return worker;
    }
    return NULL;
}

typedef struct kernel_shared {
    const char *kernel;
    size_t bytes;
} kernel_shared;

static void find_kernel(const sim_kernel_count *count, void *context)
{
    kernel_shared *wanted = context;
    if (count->kernel && wanted->kernel && strcmp(count->kernel, wanted->kernel) == 0)
        wanted->bytes = count->shared;
}

// Bytes of extern __shared__ that the kernel of the finding was launched with.
static size_t dynamic_bytes(const sim_finding *finding)
{
    if (sim_current && sim_current->launch)
        return sim_current->launch->config.shared;
    kernel_shared wanted = {finding->kernel, 0};
    sim_kernel_counts_each(find_kernel, &wanted);
    return wanted.bytes;
}

// extern __shared__, and up to `slack` bytes past it.
static bool describe_dynamic(const sim_finding *finding, const sim_worker *worker, size_t slack, sim_described *memory)
{
    if (!worker || !worker->dynamic_lo || finding->address < worker->dynamic_lo)
        return false;
    size_t bytes = dynamic_bytes(finding);
    if (finding->address - worker->dynamic_lo >= bytes + slack)
        return false;
    memory->space = "shared";
    memory->dynamic = true;
    memory->bytes = bytes;
    memory->offset = (int64_t)(finding->address - worker->dynamic_lo);
    return true;
}

static bool describe_shared(const sim_finding *finding, sim_described *memory)
{
    enum { SLACK = 65536 }; // an index that runs farther past extern __shared__ is not reported as such
    uintptr_t address = finding->address;
    const sim_worker *worker = worker_of(address);
    uintptr_t low = worker && worker->thread_local_lo ? worker->thread_local_lo : sim_module_tls();
    if (!between(address, low, low + sim_module_self()->tls_bytes))
        return describe_dynamic(finding, worker, 0, memory);
    sim_symbol nearest;
    memory->space = "shared";
    bool found = sim_symbol_nearest_shared(address, low, &nearest);
    if (found && between(address, nearest.start, nearest.start + nearest.bytes))
        describe_symbol(memory, "shared", &nearest, address);
    else if (!describe_dynamic(finding, worker, SLACK, memory) && found)
        describe_symbol(memory, "shared", &nearest, address);
    return true;
}

static const char *space_of(sim_memory_kind kind)
{
    switch (kind) {
    case SIM_MEMORY_DEVICE:
    case SIM_MEMORY_VIRTUAL:
    case SIM_MEMORY_GRAPH: return "global";
    case SIM_MEMORY_PINNED: return "pinned";
    case SIM_MEMORY_MANAGED: return "managed";
    case SIM_MEMORY_HEAP: return "device heap";
    }
    return "unknown";
}

static bool describe_allocation(uintptr_t address, sim_described *memory)
{
    sim_allocation found;
    bool on_card = between(address, sim_memory_base, sim_memory_base + sim_memory_span);
    if (on_card)
        memory->space = "unknown";
    // Host memory may have been registered with the card.
    if (!(on_card ? sim_memory_meant(address, memory->size, &found) : sim_memory_find(address, &found)))
        return on_card;
    memory->space = space_of(found.kind);
    memory->bytes = found.bytes;
    memory->offset = (int64_t)(address - found.start);
    memory->live = found.live;
    memory->allocated_at = found.allocated_at;
    memory->freed_at = found.freed_at;
    memory->function = found.function;
    return true;
}

static bool is_about_lifetime(sim_finding_kind kind)
{
    return kind == SIM_USE_AFTER_FREE || kind == SIM_INVALID_FREE || kind == SIM_FAULT || kind == SIM_BAD_CALL ||
           kind == SIM_MISSING_WAIT || kind == SIM_DEVICE_POINTER;
}

void sim_describe(const sim_finding *finding, sim_described *memory)
{
    const sim_module *module = sim_module_self();
    uintptr_t address = finding->address;
    memset(memory, 0, sizeof *memory);
    memory->size = finding->bytes;
    memory->live = true;
    if (address == 0)
        return;
    if (describe_shared(finding, memory))
        return;
    if (describe_allocation(address, memory)) {
        if (!is_about_lifetime(finding->kind)) { // it may have been freed since
            memory->live = true;
            memory->freed_at = 0;
        }
        return;
    }
    sim_symbol symbol;
    memory->space = "host";
    const bool cards = sim_is_cards_variable(address) || sim_is_managed_variable(address);
    if (between(address, module->image_lo, module->image_hi) && sim_symbol_nearest_data(address, &symbol) &&
        (cards || !symbol.internal))
        describe_symbol(memory, "device variable", &symbol, address);
    else if (address < NULL_PAGES)
        memory->space = "unknown";
}
