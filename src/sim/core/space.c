// Which memory an address lies in, as __isShared and the like ask.
#include "machine/worker.h"

#include "memory/memory.h"
#include "memory/sections.h"

enum { SPACE_OTHER, SPACE_GLOBAL, SPACE_SHARED, SPACE_CONSTANT, SPACE_LOCAL }; // as in sim/memory_access.h

int sim_space_of(const void *address);

int sim_space_of(const void *address)
{
    const sim_worker *worker = sim_current;
    uintptr_t at = (uintptr_t)address;
    if (worker == NULL)
        return at - sim_memory_base < sim_memory_span ? SPACE_GLOBAL : SPACE_OTHER;
    if (at - worker->stacks_lo < worker->stacks_hi - worker->stacks_lo)
        return SPACE_LOCAL;
    if (at - worker->thread_local_lo < worker->thread_local_hi - worker->thread_local_lo)
        return SPACE_SHARED;
    if (at - worker->dynamic_lo < worker->launch->config.shared)
        return SPACE_SHARED;
    if (sim_is_constant_variable(at))
        return SPACE_CONSTANT;
    return SPACE_GLOBAL;
}
