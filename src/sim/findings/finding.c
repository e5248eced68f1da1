// Where findings pass from those who make them to the report.
#include "findings/finding.h"

#include <stdio.h>
#include <string.h>

static uint64_t reported;
static void (*taker)(const sim_finding *finding, uint64_t times);

void sim_findings_go_to(void (*take)(const sim_finding *finding, uint64_t times))
{
    taker = take;
}

// A thread that went on after a wrong access works with a value that was never there: what its block then does to
// others is only a consequence. Another wrong address may be one, and says so.
static bool is_consequence(const sim_finding *finding)
{
    return finding->tainted && finding->kind != SIM_OUT_OF_BOUNDS && finding->kind != SIM_MISALIGNED &&
           finding->kind != SIM_USE_AFTER_FREE && finding->kind != SIM_HOST_POINTER && finding->kind != SIM_FAULT;
}

void sim_report_many(const sim_finding *finding, uint64_t times)
{
    __atomic_add_fetch(&reported, 1, __ATOMIC_RELAXED);
    if (taker && !is_consequence(finding))
        taker(finding, times);
}

uint64_t sim_findings_count(void)
{
    return __atomic_load_n(&reported, __ATOMIC_RELAXED);
}

void sim_report(const sim_finding *finding)
{
    sim_report_many(finding, 1);
}

static bool is_misled(const sim_worker *worker)
{
    return worker->block && worker->block->fault_at &&
           (worker->block->misled[worker->thread / SIM_LANES] >> worker->thread % SIM_LANES & 1);
}

sim_finding sim_finding_of(const sim_worker *worker, sim_finding_kind kind, sim_tier tier)
{
    return (sim_finding){.kind = kind,
                         .tier = tier,
                         .kernel = worker->launch->kernel->name,
                         .tainted = worker->block && worker->block->faulted,
                         .after = is_misled(worker) ? worker->block->fault_at : 0};
}

sim_place sim_place_of(const sim_worker *worker, int thread, uintptr_t pc, const char *role)
{
    sim_place place = {.pc = pc, .role = role, .has_thread = true};
    sim_dim size = worker->launch->config.block;
    unsigned number = (unsigned)thread;
    place.thread[0] = number % size.x;
    place.thread[1] = number / size.x % size.y;
    place.thread[2] = number / size.x / size.y;
    memcpy(place.block, worker->block->index, sizeof place.block);
    return place;
}

const char *sim_thread_text(const sim_place *place, char text[SIM_PLACE_BYTES])
{
    text[0] = '\0';
    if (place->has_thread)
        snprintf(text, SIM_PLACE_BYTES, " by thread (%u,%u,%u) of block (%u,%u,%u)", place->thread[0], place->thread[1],
                 place->thread[2], place->block[0], place->block[1], place->block[2]);
    return text;
}
