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

// Goes on with the thread `next`, or outside (-1), and forgets the present fiber.
void sim_leave_for(sim_worker *worker, int next);
// Lanes of the plain loop have ended: the block learns of it.
void sim_batch_settle(sim_worker *worker, uint32_t ended);
