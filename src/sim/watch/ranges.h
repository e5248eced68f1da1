// Ranges of good addresses, one for each call of a hook and each OS thread. The code before the call looks at them
// first (build/checks.c): where nobody needs to hear of an access but for its address, the hook is not called at all.
// That is so in blocks that are not watched, and in host code. Loadable modules have only the table of slots
// (internal.h).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/worker.h"

// In elements as large as the access, from `lo` on.
typedef struct sim_range {
    uintptr_t lo;
    size_t open;  // addresses that the hook need not hear of
    size_t good;  // addresses that it need not look up
    uint64_t tag; // the site, where a log entry has it; 0: a write that nobody logs
} sim_range;

typedef struct sim_ranges {
    sim_range **used; // those that hold something
    size_t count;
    bool open; // they are those of a block that is not watched
} sim_ranges;

bool sim_ranges_start(sim_ranges *ranges); // once for each worker, on its OS thread; false: no address space
void sim_ranges_forget(sim_worker *worker);
// The worker goes on with another block, or with one that is watched no more.
void sim_ranges_enter(sim_worker *worker);
// An access of the current block, or of host code, has been looked up.
void sim_ranges_keep(sim_worker *worker, sim_range *range, uintptr_t address, unsigned bytes, uintptr_t pc);
void sim_ranges_keep_host(sim_range *range, uintptr_t address, unsigned bytes);
