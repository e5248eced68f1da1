// Collectives: lanes of one warp that wait for each other.
#pragma once

#include <string.h>

#include "machine/worker.h"

enum { SIM_WARP_SYNC = 64, SIM_WARP_CALL, SIM_WARP_MATRIX, SIM_WARP_ACTIVE }; // operations besides those of abi.h

// Lanes that meet in a collective. Kept at the index of the first lane that came.
typedef struct sim_meeting {
    uint32_t mask, arrived; // the lanes that the callers named; those that are here
    void (*function)(void **arguments, unsigned mask);
} sim_meeting;

// What a block keeps of them.
typedef struct sim_collectives {
    uint64_t value[SIM_THREADS]; // what a thread brings, then what it takes away
    int argument[SIM_THREADS];
    uint8_t width[SIM_THREADS], operation[SIM_THREADS];
    sim_meeting meeting[SIM_THREADS];
    uint32_t leaders[SIM_WARPS]; // lanes that have opened a meeting
    uint32_t asking[SIM_WARPS];  // lanes in sim_active_mask
} sim_collectives;

static inline void sim_collectives_begin(sim_collectives *collectives, int warps)
{
    memset(collectives->leaders, 0, (size_t)warps * sizeof *collectives->leaders);
    memset(collectives->asking, 0, (size_t)warps * sizeof *collectives->asking);
}

// The caller has put its argument and width into the block's collectives, and its function into its own meeting.
uint64_t sim_meet(sim_worker *worker, int operation, unsigned mask, uint64_t value, uintptr_t pc);
// A lane of the current warp has ended: meetings that waited for it may be complete.
void sim_meet_ended(sim_worker *worker);
// What each of the lanes gets, from what they brought (warp_results.c). gone: lanes that their mask names and that have
// exited. False: something was wrong, and reported.
bool sim_warp_results(sim_worker *worker, uint32_t lanes, uint32_t gone);
const char *sim_warp_name(int operation); // warp_name.c
