// The race detector: takes rows (what a warp did together) from the watch and holds them against shadow memory. An
// access is ordered before another by CUDA's rules only: barriers, __syncwarp, fences with atomics, launches; never by
// the order in which the simulator happened to run.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "machine/worker.h"
#include "race/shadow.h"

// Neighbouring lanes at consecutive addresses (stride = the site's bytes) or at one (stride 0).
typedef struct sim_stretch {
    int first, lanes;
    uintptr_t address;
    unsigned stride;
} sim_stretch;

// Bytes from its first to its last; `bytes`: of one lane.
static inline size_t sim_stretch_span(const sim_stretch *run, unsigned bytes)
{
    return run->stride ? (size_t)run->stride * (unsigned)run->lanes : bytes;
}

// One warp request: what the lanes of `mask` do together at one site, as runs in the order of lanes.
typedef struct sim_row {
    unsigned site;
    uint32_t mask;
    // Other than 0: all 32 lanes take part, each so many bytes behind the one before it, and each is a run.
    intptr_t step;
    int runs;
    sim_stretch run[32];
} sim_row;

// A store whose value will be read once it has been made (values.c).
typedef struct sim_pending_store {
    uintptr_t address; // 0: none
    size_t bytes;
    uint64_t when; // and from where (cell.h)
} sim_pending_store;

// What the detector keeps of a worker: worker->race.
struct sim_race {
    sim_region shared;   // shadow of the shared memory of the current block
    struct sim_ran *ran; // [site * SIM_WARPS + warp]: who has read there (unwritten.h)
    sim_pending_store pending;
};

void sim_race_row(sim_worker *worker, const sim_row *row);
// At the end, and whenever findings are asked for: reports the races, whose tiers are known only now.
void sim_race_finish(void);

// Tests hear of every racing access.
void sim_race_observe(void (*callback)(uintptr_t address, size_t bytes, void *context), void *context);
