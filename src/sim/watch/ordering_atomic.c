// Atomics that order threads by themselves, alone in their file: a program that has one is known, before its first
// launch, for one that orders threads by more than barriers.

#include "machine/options.h"
#include "watch/internal.h"

__attribute__((constructor)) static void tell(void)
{
    sim_program_uses |= SIM_USES_ATOMICS | SIM_USES_FENCES;
    sim_use_tell(SIM_USES_ATOMICS | SIM_USES_FENCES, (uintptr_t)sim_ordering_atomic);
}

void sim_ordering_atomic(const volatile void *address, int bytes, int scope, int what)
{
    sim_access_atomic((uintptr_t)address, (unsigned)bytes, scope, what, (uintptr_t)__builtin_return_address(0));
}
