// sim_fence, alone in its file: a program that calls it is known for one that orders threads through fences.

#include "machine/options.h"
#include "race/sync.h"
#include "watch/watch.h"

__attribute__((constructor)) static void tell(void)
{
    sim_program_uses |= SIM_USES_FENCES;
}

void sim_fence(int scope)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (sim_current && sim_watching)
        sim_sync_fence(sim_current, scope);
}
