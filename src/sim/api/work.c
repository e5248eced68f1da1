// Pieces of work: made, shared and released. Running one is work_run.c's.
#include "api/work.h"

#include <stdlib.h>

#include "api/call.h"
#include "api/graph.h"

sim_work sim_work_new(sim_work_kind kind)
{
    return (sim_work){.kind = kind, .pc = sim_call_pc(), .function = sim_call_function()};
}

sim_bound *sim_bound_new(const sim_kernel *kernel)
{
    sim_bound *bound = malloc(sizeof *bound);
    if (bound == NULL) {
        if (kernel->release != NULL)
            kernel->release(kernel->closure);
        sim_no_memory();
        return NULL;
    }
    *bound = (sim_bound){*kernel, 1};
    return bound;
}

sim_work sim_work_share(const sim_work *work)
{
    if (work->kind == SIM_WORK_KERNEL)
        work->kernel.bound->references++;
    if (work->kind == SIM_WORK_CONDITION)
        work->condition.shared->references++;
    return *work;
}

void sim_work_release(sim_work *work)
{
    if (work->kind == SIM_WORK_KERNEL && --work->kernel.bound->references == 0) {
        const sim_kernel *kernel = &work->kernel.bound->kernel;
        if (kernel->release != NULL)
            kernel->release(kernel->closure);
        free(work->kernel.bound);
    }
    if (work->kind == SIM_WORK_COPY)
        free(work->copy.staging);
    if (work->kind == SIM_WORK_CONDITION)
        sim_condition_release(work->condition.shared);
    work->kind = SIM_WORK_NOTHING;
}

bool sim_work_has_number(const sim_work *work)
{
    return work->kind == SIM_WORK_KERNEL || work->kind == SIM_WORK_COPY || work->kind == SIM_WORK_FILL ||
           work->kind == SIM_WORK_FREE || work->kind == SIM_WORK_GIVE;
}

bool sim_work_is_host_function(sim_work_kind kind)
{
    return kind == SIM_WORK_HOST || kind == SIM_WORK_CALLBACK;
}
