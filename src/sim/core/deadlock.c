// Says who waits where when no thread of a block can go on.
#include <stdio.h>

#include "core/launch.h"
#include "core/scheduler.h"

typedef struct waiting_group {
    int first, threads; // first thread, and how many wait at the same output argument for the same kind of thing
} waiting_group;

static const char *what_for(const sim_resident *resident, int thread)
{
    switch (resident->block.state[thread]) {
    case SIM_AT_BARRIER: return "__syncthreads";
    case SIM_AT_NAMED: return "a named barrier";
    case SIM_AT_GRID: return "the grid barrier";
    default: return sim_warp_name(resident->collectives.operation[thread]);
    }
}

static bool alike(const sim_block *block, int a, int b)
{
    return block->state[a] == block->state[b] && block->waits_at[a] == block->waits_at[b];
}

// The first two groups, by thread number.
static int find_groups(const sim_block *block, waiting_group groups[2])
{
    int count = 0;
    for (int thread = 0; thread < block->launch->threads; thread++) {
        if (block->state[thread] == SIM_ENDED)
            continue;
        int group = 0;
        while (group < count && !alike(block, groups[group].first, thread))
            group++;
        if (group < count)
            groups[group].threads++;
        else if (count < 2)
            groups[count++] = (waiting_group){thread, 1};
    }
    return count;
}

static const char *role_of(const sim_block *block, int thread)
{
    return block->state[thread] == SIM_IN_WARP ? "call" : "barrier";
}

void sim_deadlock_report(sim_worker *worker)
{
    const sim_block *block = worker->block;
    const sim_resident *resident = sim_resident_of(worker->block);
    waiting_group groups[2] = {{0, 0}, {0, 0}};
    int count = find_groups(block, groups);
    sim_finding finding = sim_finding_make(worker, SIM_DEADLOCK, SIM_ERROR);
    int used = snprintf(finding.message, sizeof finding.message, "no thread of the block can continue: %d wait%s in %s",
                        groups[0].threads, groups[0].threads == 1 ? "s" : "", what_for(resident, groups[0].first));
    if (count == 2)
        used += snprintf(finding.message + used, sizeof finding.message - (size_t)used, ", %d in %s", groups[1].threads,
                         what_for(resident, groups[1].first));
    if (block->ended)
        snprintf(finding.message + used, sizeof finding.message - (size_t)used, "; %d %s exited", block->ended,
                 block->ended == 1 ? "has" : "have");
    for (int group = 0; group < count; group++)
        finding.place[group] = sim_place_of(worker, groups[group].first, block->waits_at[groups[group].first],
                                            role_of(block, groups[group].first));
    sim_report(&finding);
}
