// The hooks of accesses that have a range (build/checks.c), called for addresses that are not open. As short as can be:
// nearly every access of a watched block comes here.

#include "watch/internal.h"

// These are not in loadable modules, so the linker knows where the variable is.
// NOLINTNEXTLINE(readability-redundant-declaration)
extern __thread sim_worker *sim_current __attribute__((tls_model("initial-exec")));

static inline __attribute__((always_inline)) void access(uintptr_t address, sim_range *range, unsigned shift,
                                                         unsigned kind, uintptr_t pc)
{
    enum { BITS = 64 };
    uint64_t distance = address - range->lo;
    distance = shift ? distance >> shift | distance << (BITS - shift) : distance;
    sim_worker *worker = sim_current;
    if (__builtin_expect(distance < range->good && worker != NULL, 1)) {
        if (kind == SIM_WRITE && range->tag == 0) {
            sim_unwatched_write(address, 1u << shift);
            return;
        }
        uint64_t *next = worker->log_next;
        *next++ = range->tag | address;
        worker->log_next = next;
        if (__builtin_expect(next == worker->log_end, 0))
            sim_log_full(worker);
        return;
    }
    sim_access_ranged(address, 1u << shift, kind, pc, range);
}

#define HOOK(name, shift, kind)                                                                                        \
    __attribute__((visibility("default"))) void sim_##name(uintptr_t address, sim_range *range);                       \
    void sim_##name(uintptr_t address, sim_range *range)                                                               \
    {                                                                                                                  \
        access(address, range, shift, kind, (uintptr_t)__builtin_return_address(0));                                   \
    }

HOOK(read1, 0, SIM_READ)
HOOK(read2, 1, SIM_READ)
HOOK(read4, 2, SIM_READ)
HOOK(read8, 3, SIM_READ)
HOOK(read16, 4, SIM_READ)
HOOK(write1, 0, SIM_WRITE)
HOOK(write2, 1, SIM_WRITE)
HOOK(write4, 2, SIM_WRITE)
HOOK(write8, 3, SIM_WRITE)
HOOK(write16, 4, SIM_WRITE)
