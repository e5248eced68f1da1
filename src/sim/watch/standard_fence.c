// The compiler's fences, in a file apart: see fence.c for why.

#include "machine/options.h"
#include "sim/abi.h"

#define HOOK __attribute__((visibility("default")))

HOOK void __tsan_atomic_thread_fence(int order);
HOOK void __tsan_atomic_signal_fence(int order);

__attribute__((constructor)) static void tell(void)
{
    sim_use_tell(SIM_USES_FENCES, (uintptr_t)__tsan_atomic_thread_fence);
}

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    sim_fence(SIM_SCOPE_SYSTEM);
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
