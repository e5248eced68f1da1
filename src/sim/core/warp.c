// The warp collectives that programs call: shuffles, votes, matches, reductions. None of them orders memory.
#include "core/scheduler.h"

uint64_t sim_warp(int operation, unsigned mask, uint64_t value, int argument, int width)
{
    sim_worker *worker = sim_current;
    if (!worker)
        return value;
    sim_resident *resident = sim_resident_of(worker->block);
    resident->collectives.argument[worker->thread] = argument;
    // A width that no shuffle allows must not turn into one that is allowed.
    resident->collectives.width[worker->thread] = width < 0 || width > SIM_LANES ? 0 : (uint8_t)width;
    return sim_meet(worker, operation, mask, value, (uintptr_t)__builtin_return_address(0));
}
