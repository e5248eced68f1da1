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
    if (order != __ATOMIC_RELAXED)
        sim_fence_sides(SIM_SCOPE_SYSTEM,
                        (order != __ATOMIC_RELEASE ? SIM_ATOMIC_ACQUIRE : 0) |
                            (order != __ATOMIC_ACQUIRE && order != __ATOMIC_CONSUME ? SIM_ATOMIC_RELEASE : 0));
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
