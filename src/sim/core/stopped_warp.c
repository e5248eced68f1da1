// A warp none of whose lanes is ready: its logs are merged, lanes with room in their logs go on, and lanes that ask who
// is active get their answer.
#include "core/scheduler.h"

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

// The lanes of the current warp that ask who is active can be answered, because no other can run.
static void answer(sim_worker *worker)
{
    sim_resident *resident = sim_resident_of(worker->block);
    int warp = worker->warp;
    uint32_t asking = resident->collectives.asking[warp];
    resident->collectives.asking[warp] = 0;
    sim_lane_ready(resident, warp, asking);
    while (asking) {
        uint32_t group = together_with(&resident->block, warp, asking, warp * SIM_LANES + __builtin_ctz(asking));
        for (uint32_t rest = group; rest; rest &= rest - 1)
            resident->collectives.value[warp * SIM_LANES + __builtin_ctz(rest)] = group;
        if (sim_watching)
            sim_watch_warp_met(worker, group, false);
        asking &= ~group;
    }
}
bool sim_warp_goes_on(sim_worker *worker)
{
    sim_block *block = worker->block;
    int warp = worker->warp;
    if (block->ended != block->progress->ended_before) {
        block->progress->ended_before = block->ended;
        sim_progress_step(worker);
    }
    if (sim_watching) {
        uint32_t lanes = sim_watch_warp_stopped(worker) & block->full_log[warp];
        block->full_log[warp] &= ~lanes;
        block->ready[warp] |= lanes;
        if (block->ready[warp])
            return true;
    }
    if (sim_resident_of(block)->collectives.asking[warp])
        answer(worker);
    return block->ready[warp] != 0;
}
