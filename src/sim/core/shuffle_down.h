// Shuffles that read lanes which are not there. See shuffle_down.c for when that does harm.
#pragma once

#include <string.h>

#include "machine/worker.h"

// A read of a lane that was not there: the lanes by their numbers, the call's place.
typedef struct sim_lost_read {
    uintptr_t at;
    uint8_t reader, source;
} sim_lost_read;

// What a block keeps of its shuffles down.
enum { SIM_HELD_VALUES = 4 };
typedef struct sim_shuffles {
    uint32_t received[SIM_WARPS];  // lanes that got the value of a missing lane in the last step
    uint32_t undefined[SIM_WARPS]; // lanes seen to have used one
    sim_lost_read lost[SIM_THREADS];
    // What the lanes brought to the last step: of several values that are reduced side by side the first few.
    uint64_t held[SIM_HELD_VALUES][SIM_THREADS];
    uint8_t held_count[SIM_WARPS];
    uint8_t shift[SIM_WARPS];      // how far the last step reached
    uint32_t warps_open;           // a first step read a missing lane: wrong, unless a reduction follows
    sim_lost_read open[SIM_WARPS]; // that read
    uint32_t warps_reducing;
} sim_shuffles;

static inline void sim_shuffles_begin(sim_shuffles *shuffles, int warps)
{
    memset(shuffles->received, 0, (size_t)warps * sizeof *shuffles->received);
    memset(shuffles->undefined, 0, (size_t)warps * sizeof *shuffles->undefined);
    memset(shuffles->held_count, 0, (size_t)warps);
    memset(shuffles->shift, 0, (size_t)warps);
    shuffles->warps_open = shuffles->warps_reducing = 0;
}

// The lane that a shuffle reads; its own where the other would lie outside its segment.
int sim_shuffle_source(int operation, int lane, int argument, int width);
void sim_shuffle_report(sim_worker *worker, sim_lost_read lost, const char *name);
// The lanes of the current warp shuffle down. False: an undefined value has reached the lowest lane, which is reported.
bool sim_shuffle_down(sim_worker *worker, uint32_t lanes, uint32_t gone);
// No collective follows in this block: what was left open is reported.
void sim_shuffles_conclude(sim_worker *worker);
