// The threads of one block take turns. A thread is only given a fiber's stack of its own when it is still in the middle
// of the kernel while another has to start: a kernel that never waits is a plain loop over its threads on one stack.
// A warp runs until none of its lanes can, because the watch can only look at one warp's logs at a time.
#include "core/scheduler.h"

#include <stdio.h>
#include <string.h>

#include "core/order.h"
#include "core/pick.h"
#include "machine/index.h"
#include "progress/spin.h"

__thread sim_worker *sim_worker_here;

uintptr_t sim_thread_stack_top(sim_worker *worker)
{
    const sim_resident *resident = sim_resident_of(worker->block);
    return (uintptr_t)sim_stacks_top(&sim_runner_of(worker)->stacks, resident->threads.stack[worker->thread]);
}

static int pick_warp(sim_resident *resident)
{
    sim_block *block = &resident->block;
    while (resident->threads.warps_ready) {
        int warp = sim_order_first(resident->threads.warps_ready, sim_salt_of(block, SIM_WARPS));
        if (block->ready[warp])
            return warp;
        resident->threads.warps_ready &= ~(1u << warp);
    }
    return -1;
}

void sim_wake_polling(sim_resident *resident)
{
    sim_block_progress *progress = &resident->progress;
    for (uint32_t rest = progress->warps_spinning; rest; rest &= rest - 1) {
        int warp = __builtin_ctz(rest);
        sim_lane_ready(resident, warp, progress->spinning[warp]);
        progress->spinning[warp] = 0;
    }
    progress->warps_spinning = 0;
}

// All that still run poll. Where other blocks have stopped behind a barrier and could go on, one look is enough: more
// are for blocks that have nothing better to let run, and would be paid with every stop.
static bool look_again(sim_worker *worker)
{
    sim_resident *resident = sim_resident_of(worker->block);
    if (sim_runner_of(worker)->blocks.stopped > 0 || !sim_spin_again(&resident->progress, resident->block.ended))
        return false;
    sim_wake_polling(resident);
    return true;
}

int sim_pick_elsewhere(sim_worker *worker)
{
    sim_block *block = worker->block;
    sim_resident *resident = sim_resident_of(block);
    if (sim_warp_goes_on(worker))
        return sim_pick_lane(block, worker->warp);
    int warp = pick_warp(resident);
    if (warp < 0 && look_again(worker))
        warp = pick_warp(resident);
    return warp < 0 ? -1 : sim_pick_lane(block, warp);
}

__attribute__((noinline)) sim_context sim_new_context(sim_worker *worker, int thread)
{
    sim_stacks *stacks = &sim_runner_of(worker)->stacks;
    uint32_t stack = sim_stacks_take(stacks);
    sim_resident_of(worker->block)->threads.stack[thread] = stack;
    return stack == SIM_NO_STACK ? NULL
                                 : sim_fiber_prepare(sim_stacks_low(stacks, stack), sim_stacks_top(stacks, stack),
                                                     sim_runner_of(worker)->entry);
}

static void out_of_stacks(sim_worker *worker)
{
    sim_finding finding = sim_finding_make(worker, SIM_UNSUPPORTED, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message,
             "too many threads wait at the same time: this machine has no room for more stacks (%u are in use)",
             sim_runner_of(worker)->stacks.ready);
    finding.place[0] = sim_place_of(worker, worker->thread, worker->launch->launched_at, "launch");
    sim_report(&finding);
}

static __attribute__((noinline)) void wait_outside(sim_runner *runner, sim_context *save)
{
    sim_fiber_switch(save, runner->outside, false);
}

__attribute__((noinline)) void sim_fail_for_stacks(sim_worker *worker)
{
    out_of_stacks(worker);
    sim_block_fail(worker, SIM_ERROR_MEMORY);
}

// Nothing is left to do after the switch, so that a thread that goes on has no frame of this function to take down.
void sim_thread_waits(sim_worker *worker)
{
    sim_runner *runner = sim_runner_of(worker);
    sim_resident *resident = sim_resident_of(worker->block);
    int thread = worker->thread;
    resident->block.started[(unsigned)thread / SIM_LANES] |= 1u << (unsigned)thread % SIM_LANES;
    sim_progress_count(&runner->progress.events);
    int next = sim_pick(worker);
    if (next < 0) {
        wait_outside(runner, &resident->threads.context[thread]);
        return;
    }
    const bool fresh = !sim_has_started(&resident->block, next);
    sim_context context = next == thread ? NULL : sim_context_of(worker, next);
    if (!context && next != thread)
        sim_fail_for_stacks(worker);
    resident->block.state[next] = SIM_RUNNABLE;
    sim_make_current(worker, next);
    char *coming = resident->threads.context[(next + 1) % SIM_THREADS];
    __builtin_prefetch(coming);
    __builtin_prefetch(coming + 64);
    if (context)
        sim_fiber_switch(&resident->threads.context[thread], context, fresh);
}

// --- threads that never wait ----------------------------------------------------------------------------------------

void sim_batch_settle(sim_worker *worker, uint32_t ended)
{
    sim_block *block = worker->block;
    sim_runner_of(worker)->batch = 0;
    block->ready[worker->warp] &= ~ended;
    block->live[worker->warp] &= ~ended;
    block->ended += __builtin_popcount(ended);
    for (uint32_t rest = ended; rest; rest &= rest - 1)
        block->state[worker->warp * SIM_LANES + __builtin_ctz(rest)] = SIM_ENDED;
}

void sim_batch_break(sim_worker *worker)
{
    const sim_runner *runner = sim_runner_of(worker);
    sim_batch_settle(worker, runner->batch & ~runner->fresh & ~(1u << worker->lane));
}

void sim_launch_fail(sim_launch_state *launch, int error)
{
    int none = 0;
    __atomic_compare_exchange_n(&launch->error, &none, error, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    __atomic_store_n(&launch->failed, true, __ATOMIC_RELEASE);
}

void sim_block_fail(sim_worker *worker, int error)
{
    sim_runner *runner = sim_runner_of(worker);
    sim_launch_fail(worker->launch, error);
    worker->block->started[worker->warp] |= 1u << worker->lane; // it has a stack to give back
    runner->abandoned = true;
    sim_fiber_leave(runner->outside, false);
}

void sim_thread_fail(int error)
{
    sim_worker *worker = sim_worker_here;
    sim_thread_stops(worker);
    sim_block_fail(worker, error);
}

void sim_thread_log_full(sim_worker *worker)
{
    sim_block *block = worker->block;
    uint32_t lane = 1u << worker->lane;
    sim_thread_stops(worker);
    block->ready[worker->warp] &= ~lane;
    block->full_log[worker->warp] |= lane;
    block->state[worker->thread] = SIM_LOG_FULL;
    sim_thread_waits(worker);
}

sim_outcome sim_block_go(sim_worker *worker)
{
    sim_runner *runner = sim_runner_of(worker);
    sim_block *block = worker->block;
    int warp = pick_warp(sim_resident_of(block));
    if (warp < 0)
        return SIM_BLOCK_STUCK;
    int thread = sim_pick_lane(block, warp);
    const bool fresh = !sim_has_started(block, thread);
    sim_context context = sim_context_of(worker, thread);
    if (!context) {
        worker->thread = thread;
        out_of_stacks(worker);
        sim_launch_fail(worker->launch, SIM_ERROR_MEMORY);
        return SIM_BLOCK_ABANDONED;
    }
    runner->abandoned = false;
    sim_current = worker;
    sim_progress_count(&runner->progress.events);
    block->state[thread] = SIM_RUNNABLE;
    sim_make_current(worker, thread);
    sim_fiber_switch(&runner->outside, context, fresh);
    sim_current = NULL;
    if (runner->abandoned)
        return SIM_BLOCK_ABANDONED;
    return block->ended == block->launch->threads ? SIM_BLOCK_ENDED : SIM_BLOCK_STUCK;
}

void sim_block_abandon(sim_worker *worker, sim_resident *resident)
{
    sim_block *block = &resident->block;
    for (int warp = 0; warp < block->launch->warps; warp++)
        for (uint32_t rest = block->started[warp] & block->live[warp]; rest; rest &= rest - 1)
            sim_stacks_give(&sim_runner_of(worker)->stacks,
                            resident->threads.stack[warp * SIM_LANES + __builtin_ctz(rest)]);
}
