// Host code that uses memory of the card, or a variable of it: what the watch tells the API of every such access.
#include "api/host_access.h"

#include <stdio.h>
#include <string.h>

#include "api/algorithms.h"
#include "api/call.h"
#include "api/run.h"
#include "api/touch.h"
#include "api/variable.h"
#include "machine/options.h"
#include "memory/memory.h"
#include "memory/sections.h"
#include "progress/host_looks.h"
#include "progress/host_sets.h"
#include "progress/host_waits.h"
#include "race/site.h"
#include "watch/watch.h"

static void report(sim_finding_kind kind, uintptr_t address, size_t bytes, int write, uintptr_t pc, const char *message)
{
    sim_finding finding = {.kind = kind,
                           .tier = SIM_ERROR,
                           .address = address,
                           .bytes = bytes,
                           .place[0] = {.pc = pc, .role = write ? "write" : "read"}};
    snprintf(finding.message, sizeof finding.message, "%s", message);
    sim_report(&finding);
}

// Memory that was found last: a loop uses few allocations in turn.
enum { KNOWN = 4 };
static __thread struct {
    struct {
        uintptr_t start;
        size_t bytes;
    } at[KNOWN];
    unsigned next, releases;
} known;

static bool is_known(uintptr_t address, unsigned releases)
{
    for (int i = 0; i < KNOWN; i++)
        if (address - known.at[i].start < known.at[i].bytes)
            return known.releases == releases;
    return false;
}

static void keep(const sim_allocation *found, unsigned releases)
{
    if (known.releases != releases)
        memset(&known, 0, sizeof known);
    known.releases = releases;
    known.at[known.next].start = found->start;
    known.at[known.next].bytes = found->bytes;
    known.next = (known.next + 1) % KNOWN;
}

static void outside(uintptr_t address, size_t bytes, int write, uintptr_t pc)
{
    sim_allocation near;
    if (sim_memory_nearest(address, &near) && sim_memory_is_stale(&near, address))
        report(SIM_USE_AFTER_FREE, address, bytes, write, pc, "host code uses memory that has been freed");
    else
        report(SIM_OUT_OF_BOUNDS, address, bytes, write, pc, "host code uses memory outside of the allocation");
}

static bool reachable(uintptr_t address, size_t bytes, int write, uintptr_t pc)
{
    const unsigned releases = sim_memory_releases();
    if (is_known(address, releases) || sim_is_managed_variable(address))
        return true;
    sim_allocation found;
    if (!sim_memory_find(address, &found)) {
        if (address - sim_memory_base >= sim_memory_span)
            return false; // another thread has just unregistered it
        outside(address, bytes, write, pc);
        return false;
    }
    if (found.kind != SIM_MEMORY_PINNED && found.kind != SIM_MEMORY_MANAGED) {
        report(SIM_DEVICE_POINTER, address, bytes, write, pc,
               write ? "host code writes to device memory" : "host code reads device memory");
        return false;
    }
    keep(&found, releases);
    return true;
}

// Functions that streams run have no place in the order of operations.
static bool is_waited_for_all(void)
{
    return sim_host_waited_for_all() && sim_streams_host_functions() == 0;
}

void sim_host_touched(uintptr_t address, size_t bytes, bool write, bool plain, uintptr_t pc)
{
    if (!reachable(address, bytes, write, pc))
        return;
    if (sim_streams_host_place().chain != SIM_NO_CHAIN)
        sim_touch_by_function(address, bytes, write);
    if (is_waited_for_all())
        return;
    // Whoever is in the API now may run something that waits for this very access.
    const bool locked = sim_api_try_lock();
    const bool polls = locked && !is_waited_for_all() && sim_touch_unwaited(address, bytes, write, plain, pc);
    if (write && !plain)
        sim_host_set(address);
    // An exchange looks too. A store by itself does not, but is not told from one here.
    if (!plain)
        sim_looks_add(address, locked);
    else if (locked)
        sim_looks_end();
    if (locked)
        sim_api_unlock();
    else
        sim_host_waits_beside(address, !plain && !write);
    if (polls)
        sim_run_queued_now();
}

static void accessed(uintptr_t address, size_t bytes, unsigned kind, uintptr_t pc)
{
    const bool write = kind == SIM_WRITE || kind == SIM_VOLATILE_WRITE, plain = kind == SIM_READ || kind == SIM_WRITE;
    if (!plain && sim_streams_host_place().chain != SIM_NO_CHAIN)
        sim_touch_function_talks();
    const bool in_memory = address - sim_memory_base < sim_memory_span || sim_memory_is_registered(address);
    if ((in_memory || sim_is_managed_variable(address) || sim_is_cards_variable(address)) &&
        sim_library_accessed(address, bytes, write, pc))
        return;
    if (in_memory || sim_is_managed_variable(address))
        sim_host_touched(address, bytes, write, plain, pc);
    else if (sim_is_cards_variable(address) && sim_options_get()->watch)
        sim_variable_touched(address, bytes, write, pc);
    else if (!plain)
        sim_run_queued_if_polled(address, write);
}

// Also before the program's own code, which may use a variable of the card before its first call.
__attribute__((constructor(102))) void sim_host_access_start(void)
{
    sim_host_accessed = accessed;
}
