// The block barrier: __syncthreads and its counting forms.
#pragma once

#include <string.h>

#include "machine/worker.h"

// What a block keeps of it.
typedef struct sim_barrier_state {
    uint32_t lanes[SIM_WARPS]; // that wait
    uintptr_t at;              // where the first of them does
    bool mixed;                // not all wait at the same place
    int yes;                   // arrivals with a true predicate
    int result, arrivals;      // of the barrier that was passed last
    uintptr_t exited_at;       // the barrier that was last reported for threads that had exited
} sim_barrier_state;

static inline void sim_barrier_begins(sim_barrier_state *barrier, int warps)
{
    memset(barrier->lanes, 0, (size_t)warps * sizeof *barrier->lanes);
    barrier->at = barrier->exited_at = 0;
    barrier->mixed = false;
    barrier->yes = 0;
}

void sim_barrier_at(sim_worker *worker, uintptr_t pc);
// All live threads wait at the block barrier: they may go on. The current thread has stopped.
void sim_barrier_release(sim_worker *worker);
// Reports threads that wait together at different places; `what` is the function they wait in.
void sim_barrier_compare(sim_worker *worker, const uint32_t lanes[SIM_WARPS], const char *what);
// Reports that threads of the block have ended before the barrier that `lanes` are at.
void sim_barrier_exited(sim_worker *worker, const uint32_t lanes[SIM_WARPS]);
