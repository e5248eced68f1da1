// Atomic accesses, alone in their file: a program that calls sim_atomic is known for one whose blocks can talk.

#include "machine/options.h"
#include "watch/internal.h"

__attribute__((constructor)) static void tell(void)
{
    sim_program_uses |= SIM_USES_ATOMICS;
    sim_use_tell(SIM_USES_ATOMICS, (uintptr_t)sim_atomic);
}

void sim_atomic(const volatile void *address, int bytes, int scope, int what)
{
    sim_access_atomic((uintptr_t)address, (unsigned)bytes, scope, what, (uintptr_t)__builtin_return_address(0));
}

int sim_discard(void)
{
    if (sim_current && sim_current->watch)
        sim_current->watch->discard = true;
    return 0;
}
