// The kinds of finding by name, in the order in which they are shown. What they mean in words is for those who read the
// report.
#include <stddef.h>

#include "report/internal.h"

static const struct {
    sim_finding_kind kind;
    const char *name;
} kinds[SIM_FINDING_KINDS] = {
    {SIM_UNSUPPORTED, "unsupported"},
    {SIM_OUT_OF_BOUNDS, "out-of-bounds"},
    {SIM_USE_AFTER_FREE, "use-after-free"},
    {SIM_HOST_POINTER, "host-pointer"},
    {SIM_DEVICE_POINTER, "device-pointer"},
    {SIM_MISALIGNED, "misaligned"},
    {SIM_FAULT, "fault"},
    {SIM_STACK_OVERFLOW, "stack-overflow"},
    {SIM_ASSERT, "assert"},
    {SIM_TRAP, "trap"},
    {SIM_BAD_LAUNCH, "bad-launch"},
    {SIM_BAD_CALL, "bad-call"},
    {SIM_INVALID_FREE, "invalid-free"},
    {SIM_DEADLOCK, "deadlock"},
    {SIM_SPIN, "spin"},
    {SIM_BARRIER_DIVERGENT, "barrier-divergent"},
    {SIM_BARRIER_EXITED, "barrier-exited"},
    {SIM_WARP_MASK, "warp-mask"},
    {SIM_WARP_MISMATCH, "warp-mismatch"},
    {SIM_RACE, "race"},
    {SIM_MISSING_WAIT, "missing-wait"},
    {SIM_UNINITIALISED, "uninitialised"},
    {SIM_DIVISION_BY_ZERO, "division-by-zero"},
    {SIM_ORDER_DEPENDENT, "order-dependent"},
    {SIM_UNCHECKED_ERROR, "unchecked-error"},
    {SIM_LEAK, "leak"},
};

int sim_kind_rank(sim_finding_kind kind)
{
    int rank = 0;
    while (rank < SIM_FINDING_KINDS - 1 && kinds[rank].kind != kind)
        rank++;
    return rank;
}

const char *sim_kind_name(sim_finding_kind kind)
{
    return kinds[sim_kind_rank(kind)].name;
}
