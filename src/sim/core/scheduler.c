// The threads of one block take turns. A thread is only given a fiber's stack of its own when it is still in the middle
// of the kernel while another has to start: a kernel that never waits is a plain loop over its threads on one stack.
// A warp runs until none of its lanes can, because the watch can only look at one warp's logs at a time.
#include "core/scheduler.h"

#include <stdio.h>
#include <string.h>

#include "core/order.h"
#include "machine/index.h"
#include "progress/spin.h"

void (*sim_named_ended)(sim_worker *worker);

static inline void make_current(sim_worker *worker, int thread)
{
    worker->thread = thread;
    worker->warp = (int)((unsigned)thread / SIM_LANES);
    worker->lane = (int)((unsigned)thread % SIM_LANES);
    sim_thread_index_variable = sim_runner_of(worker)->index[thread];
    if (sim_watching)
        sim_watch_enter(worker);
    sim_runner_of(worker)->busy = false;
}

uintptr_t sim_thread_stack_top(sim_worker *worker)
{
    const sim_resident *resident = sim_resident_of(worker->block);
    return (uintptr_t)sim_stacks_top(&sim_runner_of(worker)->stacks, resident->stack[worker->thread]);
}

static inline bool has_started(const sim_block *block, int thread)
{
    return block->started[(unsigned)thread / SIM_LANES] >> (unsigned)thread % SIM_LANES & 1;
}

static uint64_t salt_of(const sim_block *block, int warp)
{
    return block->number * (SIM_WARPS + 1) + (uint64_t)warp;
}

static inline int pick_lane(const sim_block *block, int warp)
{
    return warp * SIM_LANES + sim_order_first(block->ready[warp], salt_of(block, warp));
}

// The current warp has come to a stop. True: some of its lanes can go on all the same.
static bool warp_goes_on(sim_worker *worker)
{
    sim_block *block = worker->block;
    int warp = worker->warp;
    if (block->ended != block->progress->ended_before) {
        block->progress->ended_before = block->ended;
        sim_progress_step(worker);
    }
    if (sim_watching) {
        uint32_t lanes = sim_watch_warp_stopped(worker) & block->full_log[warp];
        block->full_log[warp] &= ~lanes;
        block->ready[warp] |= lanes;
        if (block->ready[warp])
            return true;
    }
    if (sim_resident_of(block)->asking[warp])
        sim_active_answer(worker);
    return block->ready[warp] != 0;
}

static int pick_warp(sim_resident *resident)
{
    sim_block *block = &resident->block;
    while (resident->warps_ready) {
        int warp = sim_order_first(resident->warps_ready, salt_of(block, SIM_WARPS));
        if (block->ready[warp])
            return warp;
        resident->warps_ready &= ~(1u << warp);
    }
    return -1;
}

// All that still run poll. Where other blocks have stopped behind a barrier and could go on, one look is enough: more
// are for blocks that have nothing better to let run, and would be paid with every stop.
static bool look_again(sim_worker *worker)
{
    sim_resident *resident = sim_resident_of(worker->block);
    if (sim_runner_of(worker)->stopped > 0 || !sim_spin_again(&resident->progress))
        return false;
    sim_wake_polling(resident);
    return true;
}

static __attribute__((noinline)) int pick_elsewhere(sim_worker *worker)
{
    sim_block *block = worker->block;
    sim_resident *resident = sim_resident_of(block);
    if (warp_goes_on(worker))
        return pick_lane(block, worker->warp);
    int warp = pick_warp(resident);
    if (warp < 0 && look_again(worker))
        warp = pick_warp(resident);
    return warp < 0 ? -1 : pick_lane(block, warp);
}

// The thread that runs next; -1: none can.
static inline int pick(sim_worker *worker)
{
    const sim_block *block = worker->block;
    return block->ready[worker->warp] ? pick_lane(block, worker->warp) : pick_elsewhere(worker);
}

static void thread_main(void);

static __attribute__((noinline)) sim_context new_context(sim_worker *worker, int thread)
{
    sim_stacks *stacks = &sim_runner_of(worker)->stacks;
    uint32_t stack = sim_stacks_take(stacks);
    sim_resident_of(worker->block)->stack[thread] = stack;
    return stack == SIM_NO_STACK
               ? NULL
               : sim_fiber_prepare(sim_stacks_low(stacks, stack), sim_stacks_top(stacks, stack), thread_main);
}

// The context of a thread that does not run; NULL: there is no stack left for it.
static inline sim_context context_of(sim_worker *worker, int thread)
{
    const sim_resident *resident = sim_resident_of(worker->block);
    return has_started(&resident->block, thread) ? resident->context[thread] : new_context(worker, thread);
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
    sim_fiber_switch(save, runner->outside);
}

static _Noreturn __attribute__((noinline)) void fail_for_stacks(sim_worker *worker)
{
    out_of_stacks(worker);
    sim_block_fail(worker, SIM_ERROR_MEMORY);
}

static void leave_for(sim_worker *worker, int next)
{
    sim_runner *runner = sim_runner_of(worker);
    if (next < 0)
        sim_fiber_leave(runner->outside);
    sim_context context = context_of(worker, next);
    if (!context)
        fail_for_stacks(worker);
    worker->block->state[next] = SIM_RUNNABLE;
    make_current(worker, next);
    sim_fiber_leave(context);
}

// Nothing is left to do after the switch, so that a thread that goes on has no frame of this function to take down.
void sim_thread_waits(sim_worker *worker)
{
    sim_runner *runner = sim_runner_of(worker);
    sim_resident *resident = sim_resident_of(worker->block);
    int thread = worker->thread;
    resident->block.started[(unsigned)thread / SIM_LANES] |= 1u << (unsigned)thread % SIM_LANES;
    sim_progress_count(&runner->progress.events);
    int next = pick(worker);
    if (next < 0) {
        wait_outside(runner, &resident->context[thread]);
        return;
    }
    sim_context context = next == thread ? NULL : context_of(worker, next);
    if (!context && next != thread)
        fail_for_stacks(worker);
    resident->block.state[next] = SIM_RUNNABLE;
    make_current(worker, next);
    if (context)
        sim_fiber_switch(&resident->context[thread], context);
}

// The current thread, which has stopped, is over: takes it out of the block. Those who waited for it go on.
static inline void count_out(sim_worker *worker, int thread)
{
    sim_block *block = worker->block;
    sim_resident *resident = sim_resident_of(block);
    unsigned warp = (unsigned)thread / SIM_LANES;
    uint32_t lane = 1u << (unsigned)thread % SIM_LANES;
    block->ready[warp] &= ~lane;
    block->live[warp] &= ~lane;
    block->state[thread] = SIM_ENDED;
    block->ended++;
    if (resident->leaders[warp])
        sim_meet_ended(worker);
    if (resident->named_used)
        sim_named_ended(worker);
    if (block->waiting && block->waiting + block->ended == block->launch->threads)
        sim_barrier_release(worker);
}

void sim_thread_ends(sim_worker *worker)
{
    sim_resident *resident = sim_resident_of(worker->block);
    int thread = worker->thread;
    count_out(worker, thread);
    int next = pick(worker);
    sim_stacks_give(&sim_runner_of(worker)->stacks, resident->stack[thread]);
    leave_for(worker, next);
    __builtin_unreachable();
}

// --- threads that never wait ----------------------------------------------------------------------------------------

static void settle(sim_worker *worker, uint32_t ended)
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
    settle(worker, runner->batch & ~runner->fresh & ~(1u << worker->lane));
}

// Runs the current thread and then, on the same stack, the other threads of its warp that have not started, for as long
// as none of them waits: little more than a loop of calls. Returns the thread that ran last; it has ended, and if the
// batch is still there, so have all before it.
static int run_batch(sim_worker *worker, uint32_t stack)
{
    sim_runner *runner = sim_runner_of(worker);
    sim_resident *resident = sim_resident_of(worker->block);
    const sim_kernel *kernel = worker->launch->kernel;
    int thread = worker->thread, warp = worker->warp;
    runner->busy = true;
    bool awaited = resident->block.waiting || resident->leaders[warp] || resident->named_used;
    runner->batch = awaited ? 0 : resident->block.ready[warp] & ~resident->block.started[warp];
    uint32_t fresh = runner->batch & ~(1u << worker->lane);
    for (;;) {
        runner->fresh = fresh;
        runner->busy = false;
        kernel->run(kernel->closure);
        runner->busy = true;
        if (!runner->batch || !fresh)
            return thread;
        if (sim_watching)
            sim_watch_leave(worker);
        int lane = sim_order_first(fresh, salt_of(&resident->block, warp));
        fresh &= ~(1u << lane);
        thread = warp * SIM_LANES + lane;
        resident->stack[thread] = stack;
        make_current(worker, thread);
    }
}

// Where a fiber starts: runs its thread, and after it, on the same stack, threads that have not started yet. A thread
// counts as started once it has waited; one that never does leaves as little behind as a call.
static void thread_main(void)
{
    sim_worker *worker = sim_current;
    sim_runner *runner = sim_runner_of(worker);
    sim_resident *resident = sim_resident_of(worker->block);
    int thread = worker->thread;
    uint32_t stack = resident->stack[thread];
    for (;;) {
        thread = run_batch(worker, stack);
        if (runner->batch) {
            settle(worker, runner->batch);
            sim_thread_stops(worker);
        } else {
            sim_thread_stops(worker);
            count_out(worker, thread);
        }
        thread = pick(worker);
        if (thread < 0 || has_started(&resident->block, thread))
            break;
        resident->stack[thread] = stack;
        make_current(worker, thread);
    }
    sim_stacks_give(&runner->stacks, stack);
    leave_for(worker, thread);
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
    sim_fiber_leave(runner->outside);
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

void sim_block_begin(sim_worker *worker, sim_resident *resident, uint64_t number)
{
    sim_launch_state *launch = worker->launch;
    sim_block *block = &resident->block;
    sim_dim grid = launch->config.grid;
    block->launch = launch;
    block->number = number;
    block->index[0] = (unsigned)(number % grid.x);
    block->index[1] = (unsigned)(number / grid.x % grid.y);
    block->index[2] = (unsigned)(number / grid.x / grid.y);
    block->ended = block->waiting = 0;
    memset(block->state, SIM_RUNNABLE, (size_t)launch->threads);
    for (int warp = 0; warp < launch->warps; warp++) {
        int lanes = launch->threads - warp * SIM_LANES;
        uint32_t all = lanes >= SIM_LANES ? UINT32_MAX : (1u << lanes) - 1;
        block->live[warp] = block->ready[warp] = all;
        block->started[warp] = block->full_log[warp] = 0;
        resident->at_barrier[warp] = resident->asking[warp] = 0;
        resident->leaders[warp] = resident->received[warp] = resident->undefined[warp] = 0;
        resident->held_count[warp] = resident->shift[warp] = 0;
    }
    resident->warps_ready = launch->warps == SIM_WARPS ? UINT32_MAX : (1u << launch->warps) - 1;
    resident->warps_open = resident->warps_reducing = 0;
    resident->barrier_at = resident->exited_at = 0;
    resident->barrier_mixed = false;
    resident->barrier_true = 0;
    resident->at_grid = 0;
    sim_spin_block_begins(&resident->progress, launch->threads, launch->warps);
    resident->named_used = resident->waited = resident->stopped = false;
}

sim_outcome sim_block_go(sim_worker *worker)
{
    sim_runner *runner = sim_runner_of(worker);
    sim_block *block = worker->block;
    int warp = pick_warp(sim_resident_of(block));
    if (warp < 0)
        return SIM_BLOCK_STUCK;
    int thread = pick_lane(block, warp);
    sim_context context = context_of(worker, thread);
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
    make_current(worker, thread);
    sim_fiber_switch(&runner->outside, context);
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
            sim_stacks_give(&sim_runner_of(worker)->stacks, resident->stack[warp * SIM_LANES + __builtin_ctz(rest)]);
}
