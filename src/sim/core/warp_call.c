// A collective whose work is the caller's: matrix instructions, group operations of the stand-in headers.
#include "core/scheduler.h"

void sim_warp_call(unsigned mask, void *argument, void (*function)(void **arguments, unsigned mask))
{
    sim_worker *worker = sim_current;
    if (!worker)
        return;
    sim_resident_of(worker->block)->collectives.meeting[worker->thread].function = function;
    sim_meet(worker, SIM_WARP_CALL, mask, (uintptr_t)argument, (uintptr_t)__builtin_return_address(0));
}

void sim_warp_matrix(void *argument, void (*function)(void **arguments, unsigned mask))
{
    sim_worker *worker = sim_current;
    if (!worker)
        return;
    sim_resident_of(worker->block)->collectives.meeting[worker->thread].function = function;
    sim_meet(worker, SIM_WARP_MATRIX, UINT32_MAX, (uintptr_t)argument, (uintptr_t)__builtin_return_address(0));
}
