// Locks of shadow memory. What an access does to a cell depends on what it finds there, so two workers must not be at
// one cell at a time. A lock is for a granule of memory, as a rule what one warp touches together, and is taken once
// for all of it.
#pragma once

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/worker.h"
#include "race/shadow.h"

// Granules far apart share a lock. Neighbours do not, nor a cache line: they are different blocks' as a rule.
enum { SIM_GRANULE_SHIFT = 9, SIM_GRANULE_LOCKS = 1024, SIM_CACHE_LINE = 64 };

typedef struct sim_granule_lock {
    _Alignas(SIM_CACHE_LINE) atomic_bool held;
} sim_granule_lock;

extern sim_granule_lock sim_granule_locks[SIM_GRANULE_LOCKS];

// Whether workers can meet in the region at all.
static inline bool sim_region_common(const sim_region *region)
{
    return !region->shared && sim_workers_taking_part > 1;
}

static inline atomic_bool *sim_granule_lock_of(uintptr_t granule)
{
    return &sim_granule_locks[granule % SIM_GRANULE_LOCKS].held;
}

// All granules of [address, address + bytes), which lie in one page: in rising order, so that two never wait for each
// other. Whoever holds some takes no others, and makes no page.
static inline void sim_granules_lock(uintptr_t address, size_t bytes)
{
    for (uintptr_t at = address >> SIM_GRANULE_SHIFT; at <= (address + bytes - 1) >> SIM_GRANULE_SHIFT; at++)
        while (atomic_exchange_explicit(sim_granule_lock_of(at), true, memory_order_acquire))
            sched_yield();
}

static inline void sim_granules_unlock(uintptr_t address, size_t bytes)
{
    for (uintptr_t at = address >> SIM_GRANULE_SHIFT; at <= (address + bytes - 1) >> SIM_GRANULE_SHIFT; at++)
        atomic_store_explicit(sim_granule_lock_of(at), false, memory_order_release);
}
