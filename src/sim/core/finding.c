// Helpers to say what is wrong: a finding about the current launch, with places that name a thread of the current
// block.
#include "core/scheduler.h"

// Whoever makes a finding reports it next, which takes locks and time.
sim_finding sim_finding_make(sim_worker *worker, sim_finding_kind kind, sim_tier tier)
{
    sim_runner_of(worker)->busy = true;
    return (sim_finding){.kind = kind, .tier = tier, .kernel = worker->launch->kernel->name};
}

void sim_finding_place(sim_finding *finding, int which, const sim_worker *worker, int thread, uintptr_t pc,
                       const char *role)
{
    sim_place *place = &finding->place[which];
    place->pc = pc;
    place->role = role;
    place->has_thread = true;
    sim_thread_index(worker, thread, place->thread);
    for (int axis = 0; axis < 3; axis++)
        place->block[axis] = worker->block->index[axis];
}

void sim_thread_index(const sim_worker *worker, int thread, unsigned index[3])
{
    sim_dim size = worker->launch->config.block;
    unsigned number = (unsigned)thread;
    index[0] = number % size.x;
    index[1] = number / size.x % size.y;
    index[2] = number / size.x / size.y;
}
