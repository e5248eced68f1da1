// The compiler's fences, in a file apart: see fence.c for why.

#include "sim/abi.h"

#define HOOK __attribute__((visibility("default")))

HOOK void __tsan_atomic_thread_fence(int order);
HOOK void __tsan_atomic_signal_fence(int order);

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    sim_fence(SIM_SCOPE_SYSTEM);
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
