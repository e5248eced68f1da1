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
    resident->collectives.operation[thread] = SIM_WARP_ACTIVE;
    resident->collectives.asking[worker->warp] |= lane;
    sim_thread_waits(worker);
    return (unsigned)resident->collectives.value[thread];
}
