// Fences, alone in their file: a program that calls one is known for one that orders threads through fences.

#include "machine/options.h"
#include "race/sync.h"
#include "watch/internal.h"

__attribute__((constructor)) static void tell(void)
{
    sim_program_uses |= SIM_USES_FENCES;
    sim_use_tell(SIM_USES_FENCES, (uintptr_t)sim_fence);
    sim_use_tell(SIM_USES_FENCES, (uintptr_t)sim_fence_sides);
}

void sim_fence(int scope)
{
    sim_fence_sides(scope, SIM_ATOMIC_ACQUIRE | SIM_ATOMIC_RELEASE);
}

void sim_fence_sides(int scope, int sides)
{
    sim_worker *worker = sim_current;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!worker || !sim_watching)
        return;
    sim_thread_acts(worker);
    if (!worker->block->clock)
        return;
    sim_merge_lanes(worker, 1u << worker->lane);
    sim_sync_fence(worker, scope, sides);
}
