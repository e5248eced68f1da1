// Named barriers (bar.sync id, threads), in a file of their own: most programs have none. Id 0 for all threads is the
// block barrier itself.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/options.h"
#include "core/scheduler.h"

enum { BARRIERS = 16 };

struct sim_named {
    struct named_barrier {
        uint32_t lanes[SIM_WARPS]; // that wait
        int arrived, expected;     // expected 0: all threads of the block
        int first;                 // thread that came first
    } barrier[BARRIERS];
};

static bool complete(const sim_block *block, const struct named_barrier *barrier)
{
    int missing = barrier->expected ? barrier->expected : block->launch->threads - block->ended;
    return barrier->arrived && barrier->arrived >= missing;
}

static bool same_place(const sim_block *block, const struct named_barrier *barrier)
{
    for (int warp = 0; warp < block->launch->warps; warp++)
        for (uint32_t rest = barrier->lanes[warp]; rest; rest &= rest - 1)
            if (block->waits_at[warp * SIM_LANES + __builtin_ctz(rest)] != block->waits_at[barrier->first])
                return false;
    return true;
}

static void release(sim_worker *worker, struct named_barrier *barrier)
{
    sim_block *block = worker->block;
    sim_resident *resident = sim_resident_of(block);
    // Different places are usual here (producers and consumers), but not within a warp.
    if (!barrier->expected && !same_place(block, barrier))
        sim_barrier_compare(worker, barrier->lanes, "bar.sync");
    if (sim_watching)
        sim_watch_barrier_some(worker, barrier->lanes);
    for (int warp = 0; warp < block->launch->warps; warp++)
        if (barrier->lanes[warp])
            sim_lane_ready(resident, warp, barrier->lanes[warp]);
    memset(barrier, 0, sizeof *barrier);
    sim_progress(worker);
}

static void thread_ended(sim_worker *worker)
{
    struct sim_named *named = sim_resident_of(worker->block)->named;
    for (int id = 0; id < BARRIERS; id++)
        if (!named->barrier[id].expected && complete(worker->block, &named->barrier[id]))
            release(worker, &named->barrier[id]);
}

__attribute__((constructor)) static void announce(void)
{
    sim_program_uses |= SIM_USES_NAMED_BARRIERS;
    sim_named_ended = thread_ended;
}

static struct named_barrier *barrier_of(sim_worker *worker, int id)
{
    sim_resident *resident = sim_resident_of(worker->block);
    if (!resident->named)
        resident->named = calloc(1, sizeof *resident->named);
    if (!resident->named)
        sim_block_fail(worker, SIM_ERROR_MEMORY);
    if (!resident->named_used)
        memset(resident->named, 0, sizeof *resident->named);
    resident->named_used = true;
    return &resident->named->barrier[id];
}

static void refuse(sim_worker *worker, uintptr_t pc, int id, int threads)
{
    sim_finding finding = sim_finding_make(worker, SIM_BARRIER_DIVERGENT, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message,
             "named barrier %d for %d threads: there are barriers 0 to 15, for a multiple of 32 threads of the block",
             id, threads);
    sim_finding_place(&finding, 0, worker, worker->thread, pc, "barrier");
    sim_report(&finding);
    sim_block_fail(worker, SIM_ERROR_FAILURE);
}

static void report_expected(sim_worker *worker, const struct named_barrier *barrier, int id, int threads)
{
    sim_finding finding = sim_finding_make(worker, SIM_BARRIER_DIVERGENT, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message, "named barrier %d is waited at for %d and for %d threads", id,
             barrier->expected, threads);
    sim_finding_place(&finding, 0, worker, barrier->first, worker->block->waits_at[barrier->first], "barrier");
    sim_finding_place(&finding, 1, worker, worker->thread, worker->block->waits_at[worker->thread], "barrier");
    sim_report(&finding);
}

static void wait_at(sim_worker *worker, int id, int threads, uintptr_t pc)
{
    sim_block *block = worker->block;
    uint32_t lane = 1u << worker->lane;
    sim_thread_stops(worker);
    struct named_barrier *barrier = barrier_of(worker, id);
    block->waits_at[worker->thread] = pc;
    block->state[worker->thread] = SIM_AT_NAMED;
    block->ready[worker->warp] &= ~lane;
    if (barrier->arrived == 0) {
        barrier->first = worker->thread;
        barrier->expected = threads;
    } else if (barrier->expected != threads) {
        report_expected(worker, barrier, id, threads);
    }
    barrier->lanes[worker->warp] |= lane;
    barrier->arrived++;
    if (complete(block, barrier))
        release(worker, barrier);
    sim_thread_waits(worker);
}

void sim_barrier_named(int id, int threads)
{
    sim_worker *worker = sim_current;
    if (!worker)
        return;
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    int all = worker->launch->warps * SIM_LANES;
    if (id < 0 || id >= BARRIERS || threads < 0 || threads > all || threads % SIM_LANES != 0) {
        sim_thread_stops(worker);
        refuse(worker, pc, id, threads);
    }
    if (threads == all)
        threads = 0;
    if (id == 0 && threads == 0)
        sim_barrier_at(worker, pc);
    else
        wait_at(worker, id, threads, pc);
}
