// The race detector: takes rows (what a warp did together) from the watch and holds them against shadow memory. An
// access is ordered before another by CUDA's rules only: barriers, __syncwarp, fences with atomics, launches; never by
// the order in which the simulator happened to run.
#ifndef SIM_RACE_H
#define SIM_RACE_H

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

// One warp request: what the lanes of `mask` do together at one site, as runs in the order of lanes.
typedef struct sim_row {
    unsigned site;
    uint32_t mask;
    int runs;
    sim_stretch run[32];
} sim_row;

extern sim_region sim_global_region, sim_data_region;

void sim_race_row(sim_worker *worker, const sim_row *row);

// The region an address lies in, for this worker; NULL: no shadow.
sim_region *sim_region_of(sim_worker *worker, uintptr_t address);

// Tests hear of every racing access.
void sim_race_observe(void (*callback)(uintptr_t address, size_t bytes, void *context), void *context);

#endif
