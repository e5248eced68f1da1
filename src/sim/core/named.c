// Named barriers (bar.sync id, threads; bar.arrive), in a file of their own: most programs have none. Id 0 for all
// threads is the block barrier itself.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scheduler.h"
#include "machine/options.h"

enum { BARRIERS = 16 };

struct sim_named {
    struct named_barrier {
        uint32_t lanes[SIM_WARPS]; // that wait
        uint32_t gone[SIM_WARPS];  // that have arrived and gone on: they may have ended by now
        int arrived, expected;     // expected 0: all threads of the block
        int first;                 // thread that came first
        uintptr_t first_pc;        // and where
        bool passed;               // some have gone on
        bool counted;              // the instruction says for how many threads: exited warps are not among them
    } barrier[BARRIERS];
};

// Lanes of warps that have arrived which had exited before, or which the block does not have: a warp arrives as a
// whole.
static int absent_lanes(const sim_block *block, const struct named_barrier *barrier)
{
    int absent = 0;
    if (block->ended || block->launch->threads % SIM_LANES)
        for (int thread = 0; thread < block->launch->warps * SIM_LANES; thread++) {
            const uint32_t arrived = barrier->lanes[thread / SIM_LANES] | barrier->gone[thread / SIM_LANES];
            absent += arrived && !(arrived >> thread % SIM_LANES & 1) &&
                      (thread >= block->launch->threads || block->state[thread] == SIM_ENDED);
        }
    return absent;
}

static bool complete(const sim_block *block, const struct named_barrier *barrier)
{
    int expected = barrier->expected ? barrier->expected : block->launch->threads;
    if (barrier->arrived == 0)
        return false;
    if (!barrier->counted)
        return barrier->arrived + (barrier->passed ? 0 : block->ended) >= expected;
    if (!barrier->expected)
        expected = block->launch->warps * SIM_LANES;
    return barrier->arrived + absent_lanes(block, barrier) >= expected;
}

static bool same_place(const sim_block *block, const struct named_barrier *barrier)
{
    for (int warp = 0; warp < block->launch->warps; warp++)
        for (uint32_t rest = barrier->lanes[warp]; rest; rest &= rest - 1)
            if (block->waits_at[warp * SIM_LANES + __builtin_ctz(rest)] != block->waits_at[barrier->first])
                return false;
    return true;
}

static void release(sim_worker *worker, int id)
{
    sim_block *block = worker->block;
    sim_resident *resident = sim_resident_of(block);
    struct named_barrier *barrier = &resident->named.barriers->barrier[id];
    // Different places are usual here (producers and consumers), but not within a warp.
    if (!barrier->expected && !barrier->passed && !same_place(block, barrier))
        sim_barrier_compare(worker, barrier->lanes, "bar.sync");
    if (sim_watching)
        sim_watch_barrier_some(worker, id, barrier->lanes);
    for (int warp = 0; warp < block->launch->warps; warp++)
        if (barrier->lanes[warp])
            sim_lane_ready(resident, warp, barrier->lanes[warp]);
    memset(barrier, 0, sizeof *barrier);
    sim_progress_step(worker);
}

static void thread_ended(sim_worker *worker)
{
    struct sim_named *named = sim_resident_of(worker->block)->named.barriers;
    for (int id = 0; id < BARRIERS; id++)
        if (complete(worker->block, &named->barrier[id]))
            release(worker, id);
}

__attribute__((constructor)) static void announce(void)
{
    sim_program_uses |= SIM_USES_NAMED_BARRIERS;
    sim_use_tell(SIM_USES_NAMED_BARRIERS, (uintptr_t)sim_barrier_named);
    sim_use_tell(SIM_USES_NAMED_BARRIERS, (uintptr_t)sim_barrier_arrive);
    sim_named_ended = thread_ended;
}

static struct named_barrier *barrier_of(sim_worker *worker, int id)
{
    sim_resident *resident = sim_resident_of(worker->block);
    if (!resident->named.barriers)
        resident->named.barriers = calloc(1, sizeof *resident->named.barriers);
    if (!resident->named.barriers)
        sim_block_fail(worker, SIM_ERROR_MEMORY);
    if (!resident->named.used)
        memset(resident->named.barriers, 0, sizeof *resident->named.barriers);
    resident->named.used = true;
    return &resident->named.barriers->barrier[id];
}

static void refuse(sim_worker *worker, uintptr_t pc, int id, int threads)
{
    sim_finding finding = sim_finding_make(worker, SIM_BARRIER_DIVERGENT, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message,
             "named barrier %d for %d threads: there are barriers 0 to 15, for a multiple of 32 threads of the block",
             id, threads);
    finding.place[0] = sim_place_of(worker, worker->thread, pc, "barrier");
    sim_report(&finding);
    sim_block_fail(worker, SIM_ERROR_FAILURE);
}

static void report_expected(sim_worker *worker, const struct named_barrier *barrier, int id, int threads, uintptr_t pc)
{
    sim_finding finding = sim_finding_make(worker, SIM_BARRIER_DIVERGENT, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message,
             "threads wait at named barrier %d for different counts: %d and %d", id, barrier->expected, threads);
    finding.place[0] = sim_place_of(worker, barrier->first, barrier->first_pc, "barrier");
    finding.place[1] = sim_place_of(worker, worker->thread, pc, "barrier");
    sim_report(&finding);
}

// threads: as the instruction has it, 0 if it has no count.
static void count(sim_worker *worker, struct named_barrier *barrier, int id, int threads, uintptr_t pc)
{
    barrier->counted |= threads != 0;
    if (threads == worker->launch->warps * SIM_LANES)
        threads = 0;
    if (barrier->arrived == 0) {
        barrier->first = worker->thread;
        barrier->first_pc = pc;
        barrier->expected = threads;
    } else if (barrier->expected != threads) {
        report_expected(worker, barrier, id, threads, pc);
    }
    barrier->arrived++;
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
    count(worker, barrier, id, threads, pc);
    barrier->lanes[worker->warp] |= lane;
    if (complete(block, barrier))
        release(worker, id);
    sim_thread_waits(worker);
}

static void arrive_at(sim_worker *worker, int id, int threads, uintptr_t pc)
{
    struct named_barrier *barrier = barrier_of(worker, id);
    count(worker, barrier, id, threads, pc);
    barrier->passed = true;
    barrier->gone[worker->warp] |= 1u << worker->lane;
    if (sim_watching)
        sim_watch_barrier_arrive(worker, id);
    sim_thread_acts(worker);
    if (complete(worker->block, barrier))
        release(worker, id);
}

// Whether it is the barrier of __syncthreads(). Does not return where there is no such barrier.
static bool is_block_barrier(sim_worker *worker, int id, int threads, uintptr_t pc)
{
    int all = worker->launch->warps * SIM_LANES;
    if (id < 0 || id >= BARRIERS || threads < 0 || threads > all || threads % SIM_LANES != 0) {
        sim_thread_stops(worker);
        refuse(worker, pc, id, threads);
    }
    return id == 0 && (threads == 0 || threads == all);
}

void sim_barrier_named(int id, int threads)
{
    sim_worker *worker = sim_current;
    if (!worker)
        return;
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    if (is_block_barrier(worker, id, threads, pc))
        sim_barrier_at(worker, pc);
    else
        wait_at(worker, id, threads, pc);
}

void sim_barrier_arrive(int id, int threads)
{
    sim_worker *worker = sim_current;
    if (!worker)
        return;
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    if (is_block_barrier(worker, id, threads, pc))
        sim_unsupported_at("bar.arrive at the barrier of __syncthreads()", "a barrier from 1 to 15", pc);
    arrive_at(worker, id, threads, pc);
}
