// Which thread of a block runs next, inlined where threads change.
#pragma once

#include "core/order.h"
#include "core/scheduler.h"
#include "machine/index.h"

static inline void sim_make_current(sim_worker *worker, int thread)
{
    worker->thread = thread;
    worker->warp = (int)((unsigned)thread / SIM_LANES);
    worker->lane = (int)((unsigned)thread % SIM_LANES);
    sim_thread_index_variable = sim_runner_of(worker)->index[thread];
    if (sim_watching)
        sim_watch_enter(worker);
    sim_runner_of(worker)->busy = false;
}

static inline bool sim_has_started(const sim_block *block, int thread)
{
    return block->started[(unsigned)thread / SIM_LANES] >> (unsigned)thread % SIM_LANES & 1;
}

static inline uint64_t sim_salt_of(const sim_block *block, int warp)
{
    return block->number * (SIM_WARPS + 1) + (uint64_t)warp;
}

static inline int sim_pick_lane(const sim_block *block, int warp)
{
    return warp * SIM_LANES + sim_order_first(block->ready[warp], sim_salt_of(block, warp));
}

// No lane of the current warp is ready (scheduler.c).
int sim_pick_elsewhere(sim_worker *worker);

// The thread that runs next; -1: none can.
static inline int sim_pick(sim_worker *worker)
{
    const sim_block *block = worker->block;
    return block->ready[worker->warp] ? sim_pick_lane(block, worker->warp) : sim_pick_elsewhere(worker);
}

// The context of a thread that has not started, on a stack of its own; NULL: there is no stack left for it.
sim_context sim_new_context(sim_worker *worker, int thread);
void sim_fail_for_stacks(sim_worker *worker) __attribute__((noreturn));

// The context of a thread that does not run; NULL as above.
static inline sim_context sim_context_of(sim_worker *worker, int thread)
{
    const sim_resident *resident = sim_resident_of(worker->block);
    return sim_has_started(&resident->block, thread) ? resident->threads.context[thread]
                                                     : sim_new_context(worker, thread);
}

// Goes on with the thread `next`, or outside (-1), and forgets the present fiber.
static inline __attribute__((noreturn, always_inline)) void sim_leave_for(sim_worker *worker, int next)
{
    if (next < 0)
        sim_fiber_leave(sim_runner_of(worker)->outside, false);
    const bool fresh = !sim_has_started(worker->block, next);
    sim_context context = sim_context_of(worker, next);
    if (!context)
        sim_fail_for_stacks(worker);
    worker->block->state[next] = SIM_RUNNABLE;
    sim_make_current(worker, next);
    sim_fiber_leave(context, fresh);
}

// Lanes of the plain loop have ended: the block learns of it.
void sim_batch_settle(sim_worker *worker, uint32_t ended);
