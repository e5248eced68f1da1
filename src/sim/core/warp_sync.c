// __syncwarp, in a file of its own: a program that has it needs a race detector that knows single lanes' times.
#include "core/scheduler.h"
#include "machine/options.h"

__attribute__((constructor)) static void announce(void)
{
    sim_program_uses |= SIM_USES_WARP_SYNC;
    sim_use_tell(SIM_USES_WARP_SYNC, (uintptr_t)sim_warp_sync);
}

void sim_warp_sync(unsigned mask)
{
    sim_worker *worker = sim_current;
    if (worker)
        sim_meet(worker, SIM_WARP_SYNC, mask, 0, (uintptr_t)__builtin_return_address(0));
}
