// __activemask: the lanes that are at this call together. There is no lockstep here, so a lane that asks waits until no
// other lane of its warp can run; all that have come to the same call by then are together.
#include "core/scheduler.h"

unsigned sim_active_mask(void)
{
    sim_worker *worker = sim_current;
    if (!worker)
        return 1;
    sim_block *block = worker->block;
    sim_resident *resident = sim_resident_of(block);
    int thread = worker->thread;
    uint32_t lane = 1u << worker->lane;
    sim_thread_acts(worker);
    sim_thread_stops(worker);
    block->waits_at[thread] = (uintptr_t)__builtin_return_address(0);
    block->state[thread] = SIM_IN_WARP;
    block->ready[worker->warp] &= ~lane;
    resident->operation[thread] = SIM_WARP_ACTIVE;
    resident->asking[worker->warp] |= lane;
    sim_thread_waits(worker);
    return (unsigned)resident->value[thread];
}

static uint32_t together_with(const sim_block *block, int warp, uint32_t asking, int first)
{
    uint32_t group = 0;
    for (uint32_t rest = asking; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (block->waits_at[warp * SIM_LANES + lane] == block->waits_at[first])
            group |= 1u << lane;
    }
    return group;
}

void sim_active_answer(sim_worker *worker)
{
    sim_resident *resident = sim_resident_of(worker->block);
    int warp = worker->warp;
    uint32_t asking = resident->asking[warp];
    resident->asking[warp] = 0;
    sim_lane_ready(resident, warp, asking);
    while (asking) {
        uint32_t group = together_with(&resident->block, warp, asking, warp * SIM_LANES + __builtin_ctz(asking));
        for (uint32_t rest = group; rest; rest &= rest - 1)
            resident->value[warp * SIM_LANES + __builtin_ctz(rest)] = group;
        if (sim_watching)
            sim_watch_warp_met(worker, group, false);
        asking &= ~group;
    }
}
