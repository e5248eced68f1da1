// Programmatic dependent launch, as kernels see it: waiting for the launch before, and letting the next one begin.

#include "race/clock.h"
#include "watch/internal.h"

void sim_dependency_wait(void)
{
    sim_worker *worker = sim_current;
    if (!worker || !sim_watching || !worker->block->clock || worker->launch->awaits == 0)
        return;
    sim_thread_acts(worker);
    sim_merge_lanes(worker, 1u << worker->lane); // what the thread did so far, it did before
    sim_clock_dependency_wait(worker->block->clock, worker->thread);
}

void sim_dependency_trigger(void)
{
    sim_worker *worker = sim_current;
    if (worker && sim_watching && worker->block->clock)
        sim_clock_dependency_trigger(worker->block->clock, worker->thread);
}
