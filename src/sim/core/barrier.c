// The block barrier: __syncthreads and its counting forms. All live threads meet; threads that have exited count as
// arrived, as on hardware. Meeting at different places of the source, or without the exited ones, is reported and then
// forgiven: the barrier completes all the same.
#include <stdio.h>

#include "core/launch.h"
#include "core/order.h"
#include "core/scheduler.h"
#include "machine/barrier_line.h"

static int result_of(const sim_resident *resident, int operation)
{
    switch (operation) {
    case SIM_BARRIER_COUNT: return resident->barrier.result;
    case SIM_BARRIER_AND: return resident->barrier.result == resident->barrier.arrivals;
    default: return resident->barrier.result != 0;
    }
}

static void report_pair(sim_worker *worker, int first, int second, const char *what)
{
    const sim_block *block = worker->block;
    bool same_warp = first / SIM_LANES == second / SIM_LANES;
    sim_finding finding = sim_finding_make(worker, SIM_BARRIER_DIVERGENT, same_warp ? SIM_ERROR : SIM_WARNING);
    snprintf(finding.message, sizeof finding.message, "threads of one block wait at different %s calls", what);
    snprintf(finding.note, sizeof finding.note, "%s",
             same_warp ? "the two threads are in the same warp" : "warp-uniform: each warp waits at one place");
    finding.place[0] = sim_place_of(worker, first, block->waits_at[first], "barrier");
    finding.place[1] = sim_place_of(worker, second, block->waits_at[second], "barrier");
    sim_report(&finding);
}

// Each warp is held against its own first lane, and that one against the block's first: one source line compiled twice
// (unrolled, inlined) has two places, so the first difference seen need not be the one that counts.
void sim_barrier_compare(sim_worker *worker, const uint32_t lanes[SIM_WARPS], const char *what)
{
    const sim_block *block = worker->block;
    int block_first = -1;
    for (int warp = 0; warp < block->launch->warps; warp++) {
        if (!lanes[warp])
            continue;
        int first = warp * SIM_LANES + __builtin_ctz(lanes[warp]);
        uintptr_t seen = block->waits_at[first];
        for (uint32_t rest = lanes[warp] & (lanes[warp] - 1); rest; rest &= rest - 1) {
            int thread = warp * SIM_LANES + __builtin_ctz(rest);
            if (block->waits_at[thread] != block->waits_at[first] && block->waits_at[thread] != seen) {
                report_pair(worker, first, thread, what);
                seen = block->waits_at[thread];
            }
        }
        if (block_first < 0)
            block_first = first;
        else if (block->waits_at[first] != block->waits_at[block_first])
            report_pair(worker, block_first, first, what);
    }
}

// Of a warp, some lanes are at the barrier and the others have ended.
static bool parts_a_warp(const sim_block *block, const uint32_t lanes[SIM_WARPS])
{
    for (int warp = 0; warp < block->launch->warps; warp++) {
        int all = block->launch->threads - warp * SIM_LANES;
        if (lanes[warp] && __builtin_popcount(lanes[warp]) < (all < SIM_LANES ? all : SIM_LANES))
            return true;
    }
    return false;
}

void sim_barrier_exited(sim_worker *worker, const uint32_t lanes[SIM_WARPS])
{
    const sim_block *block = worker->block;
    sim_finding finding = sim_finding_make(worker, SIM_BARRIER_EXITED, SIM_WARNING);
    finding.parts_warp = parts_a_warp(block, lanes);
    snprintf(finding.message, sizeof finding.message,
             "%d of the block's %d threads had ended before this barrier, which all threads should reach", block->ended,
             block->launch->threads);
    for (int warp = 0; warp < block->launch->warps; warp++)
        if (lanes[warp]) {
            int thread = warp * SIM_LANES + __builtin_ctz(lanes[warp]);
            finding.place[0] = sim_place_of(worker, thread, block->waits_at[thread], "barrier");
            break;
        }
    sim_report(&finding);
}

void sim_barrier_release(sim_worker *worker)
{
    sim_block *block = worker->block;
    sim_resident *resident = sim_resident_of(block);
    if (resident->barrier.mixed)
        sim_barrier_compare(worker, resident->barrier.lanes, "__syncthreads");
    if (block->ended && resident->barrier.exited_at != resident->barrier.at) {
        sim_barrier_exited(worker, resident->barrier.lanes);
        resident->barrier.exited_at = resident->barrier.at;
    }
    if (sim_watching)
        sim_watch_barrier(worker);
    resident->stopped = sim_turns_stop(block->launch);
    for (int warp = 0; warp < block->launch->warps; warp++) {
        if (resident->barrier.lanes[warp] && !resident->stopped)
            sim_lane_ready(resident, warp, resident->barrier.lanes[warp]);
        resident->barrier.lanes[warp] = 0;
    }
    resident->barrier.result = resident->barrier.yes;
    resident->barrier.arrivals = block->waiting;
    resident->barrier.yes = 0;
    resident->barrier.at = 0;
    resident->barrier.mixed = false;
    block->waiting = 0;
    sim_progress_step(worker);
    // All start again in order, not with the warp that came last.
    if (!resident->stopped)
        worker->warp = sim_order_first(resident->threads.warps_ready, block->number);
}

// The current thread has come to the barrier and stops there.
static inline void arrive(sim_worker *worker, int predicate, uintptr_t pc)
{
    sim_block *block = worker->block;
    sim_resident *resident = sim_resident_of(block);
    uint32_t lane = 1u << worker->lane;
    sim_thread_stops(worker);
    block->waits_at[worker->thread] = pc;
    block->state[worker->thread] = SIM_AT_BARRIER;
    if (block->waiting++ == 0)
        resident->barrier.at = pc;
    else if (resident->barrier.at != pc)
        resident->barrier.mixed = true;
    resident->barrier.yes += predicate != 0;
    block->ready[worker->warp] &= ~lane;
    resident->barrier.lanes[worker->warp] |= lane;
    if (block->waiting + block->ended == block->launch->threads)
        sim_barrier_release(worker);
}

void sim_barrier_at(sim_worker *worker, uintptr_t pc)
{
    arrive(worker, 0, pc);
    sim_thread_waits(worker);
}

static __attribute__((noinline)) int counting_barrier(sim_worker *worker, int operation, int predicate, uintptr_t pc)
{
    arrive(worker, predicate, pc);
    sim_thread_waits(worker);
    return result_of(sim_resident_of(worker->block), operation);
}

int sim_barrier_on_line(int number, int operation, int predicate)
{
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    if (!sim_current)
        return 0;
    sim_barrier_on_line_note(pc, number);
    return counting_barrier(sim_current, operation, predicate, pc);
}

// Every barrier of most programs: with arrive inlined there is nothing to return to but the kernel (fiber.c).
void sim_barrier(void)
{
    sim_worker *worker = sim_current;
    if (!worker)
        return;
    arrive(worker, 0, (uintptr_t)__builtin_return_address(0));
    sim_thread_waits(worker);
}

int sim_barrier_counting(int operation, int predicate)
{
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    return sim_current ? counting_barrier(sim_current, operation, predicate, pc) : 0;
}
