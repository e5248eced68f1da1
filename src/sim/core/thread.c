// A thread from its start to its end. It is only given a fiber's stack of its own when it is still in the middle of the
// kernel while another has to start: a kernel that never waits is a plain loop over its threads on one stack.
#include <string.h>

#include "core/pick.h"
#include "machine/options.h"

void (*sim_named_ended)(sim_worker *worker);

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
    if (resident->collectives.leaders[warp])
        sim_meet_ended(worker);
    if (resident->named.used)
        sim_named_ended(worker);
    if (block->waiting && block->waiting + block->ended == block->launch->threads)
        sim_barrier_release(worker);
}

void sim_thread_ends(sim_worker *worker)
{
    sim_resident *resident = sim_resident_of(worker->block);
    int thread = worker->thread;
    count_out(worker, thread);
    int next = sim_pick(worker);
    sim_stacks_give(&sim_runner_of(worker)->stacks, resident->threads.stack[thread]);
    sim_leave_for(worker, next);
    __builtin_unreachable();
}

// Of a launch, as many as show what there is to see: it takes a tenth of the time of a short thread.
enum { SOILED_BLOCKS = 64 };

// What a thread finds in variables of its stack that it never sets: in each run the same in all threads, instead of
// what the thread before has left there, which is often right. Another run finds something else, so that a result shows
// it.
static __attribute__((noinline)) void leave_on_stack(void)
{
    enum { BYTES = 512, FIRST = 0x5a, SCHEDULES = 8 };
    const sim_options *options = sim_options_get();
    char left[BYTES];
    memset(left, (int)(FIRST + 2 * (options->schedule % SCHEDULES) + (options->tick > 1)), sizeof left);
    __asm__ volatile("" : : "r"(left) : "memory");
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
    bool awaited = resident->block.waiting || resident->collectives.leaders[warp] || resident->named.used;
    runner->batch = awaited ? 0 : resident->block.ready[warp] & ~resident->block.started[warp];
    uint32_t fresh = runner->batch & ~(1u << worker->lane);
    for (;;) {
        runner->fresh = fresh;
        runner->busy = false;
        if (sim_watching && resident->block.number < SOILED_BLOCKS)
            leave_on_stack();
        kernel->run(kernel->closure);
        runner->busy = true;
        if (!runner->batch || !fresh)
            return thread;
        if (sim_watching)
            sim_watch_leave(worker);
        int lane = sim_order_first(fresh, sim_salt_of(&resident->block, warp));
        fresh &= ~(1u << lane);
        thread = warp * SIM_LANES + lane;
        resident->threads.stack[thread] = stack;
        sim_make_current(worker, thread);
    }
}

// Where a fiber starts: runs its thread, and after it, on the same stack, threads that have not started yet. A thread
// counts as started once it has waited; one that never does leaves as little behind as a call.
void sim_thread_main(void)
{
    sim_worker *worker = sim_current;
    sim_runner *runner = sim_runner_of(worker);
    sim_resident *resident = sim_resident_of(worker->block);
    int thread = worker->thread;
    uint32_t stack = resident->threads.stack[thread];
    for (;;) {
        thread = run_batch(worker, stack);
        if (runner->batch) {
            sim_batch_settle(worker, runner->batch);
            sim_thread_stops(worker);
        } else {
            sim_thread_stops(worker);
            count_out(worker, thread);
        }
        thread = sim_pick(worker);
        if (thread < 0 || sim_has_started(&resident->block, thread))
            break;
        resident->threads.stack[thread] = stack;
        sim_make_current(worker, thread);
    }
    sim_stacks_give(&runner->stacks, stack);
    sim_leave_for(worker, thread);
}
