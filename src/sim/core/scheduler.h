// Threads of a block that take turns: the few steps out of which barriers, warp collectives and polling are made. A
// thread that has to wait goes through three of them:
//
//     sim_thread_stops(worker);          the watch closes the lane's log
//     ... note why it waits, clear its ready bit ...
//     sim_thread_waits(worker);          others run; comes back when somebody has made the thread ready
//
#pragma once

#include "core/core.h"
#include "core/resident.h"
#include "findings/finding.h"
#include "machine/errors.h"
#include "watch/watch.h"

// The worker of this OS thread, also while sim_current is NULL; NULL on a host thread.
extern __thread sim_worker *sim_worker_here;

// --- steps of a thread, on its own stack ----------------------------------------------------------------------------

// Ends the plain loop because its current thread has to wait.
void sim_batch_break(sim_worker *worker);

static inline void sim_thread_stops(sim_worker *worker)
{
    sim_runner_of(worker)->busy = true;
    if (sim_runner_of(worker)->batch)
        sim_batch_break(worker);
    if (sim_watching)
        sim_watch_leave(worker);
}

// Others run. The thread is made ready by somebody, or was left ready and waits its turn.
void sim_thread_waits(sim_worker *worker);
// The current thread, which has stopped, is over; its stack is given up (thread.c).
void sim_thread_ends(sim_worker *worker) __attribute__((noreturn));
void sim_thread_main(void); // where fibers start (thread.c)
// The current block cannot go on: abandons all of its threads. The finding has been reported.
void sim_block_fail(sim_worker *worker, int error) __attribute__((noreturn));
// As in watch/scheduler.h.
void sim_thread_log_full(sim_worker *worker);
uintptr_t sim_thread_stack_top(sim_worker *worker);

static inline void sim_lane_ready(sim_resident *resident, int warp, uint32_t lanes)
{
    resident->block.ready[warp] |= lanes;
    resident->threads.warps_ready |= 1u << warp;
}

// The current warp has come to a stop. True: some of its lanes can go on all the same (stopped_warp.c).
bool sim_warp_goes_on(sim_worker *worker);

// --- steps of a block, on the worker's own stack --------------------------------------------------------------------

typedef enum sim_outcome { SIM_BLOCK_ENDED, SIM_BLOCK_STUCK, SIM_BLOCK_ABANDONED } sim_outcome;

// Runs the block's threads until all have ended or none can go on.
sim_outcome sim_block_go(sim_worker *worker);
// Takes back the stacks of the threads that have not ended.
void sim_block_abandon(sim_worker *worker, sim_resident *resident);
void sim_launch_fail(sim_launch_state *launch, int error);
void sim_wake_polling(sim_resident *resident);

// --- polling.c ------------------------------------------------------------------------------------------------------

// As in watch/scheduler.h.
void sim_thread_polls(sim_worker *worker, uintptr_t pc, bool surely, const sim_polled *word);
void sim_thread_delays(sim_worker *worker, uintptr_t pc);
// The current thread was interrupted at `pc` in a loop that only polls: others run, other blocks at once.
void sim_thread_interrupted(sim_worker *worker, uintptr_t pc);

// Whoever makes a finding reports it next, which takes locks and time.
static inline sim_finding sim_finding_make(sim_worker *worker, sim_finding_kind kind, sim_tier tier)
{
    sim_runner_of(worker)->busy = true;
    return sim_finding_of(worker, kind, tier);
}
