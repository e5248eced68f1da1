// One launch from its first block to its last. Workers take blocks in turn; a block that can only wait for other blocks
// stays resident while others start, up to the number a chip could hold.
#include "core/launch.h"

#include <stdio.h>
#include <string.h>

#include "core/order.h"
#include "core/scheduler.h"
#include "machine/index.h"
#include "machine/options.h"
#include "program/program.h"
#include "progress/host_threads.h"
#include "progress/spin.h"
#include "report/stopped.h"

// More than any chip holds at once (an H200 holds at most 4224): a program that needs more waits forever on hardware
// too.
enum { MOST_RESIDENT = 4224 };
// Blocks that have stopped for others' turn, before these go on: two make most mistakes, and each keeps its stacks.
enum { MOST_STOPPED = 8 };

static struct {
    sim_launch_state *launch;
    atomic_uint_fast64_t next; // block to start, by position in the order
} run;

static bool failed(void)
{
    return __atomic_load_n(&run.launch->failed, __ATOMIC_ACQUIRE);
}

static void enqueue(sim_runner *runner, sim_resident *resident)
{
    resident->next = NULL;
    *runner->blocks.queue_end = resident;
    runner->blocks.queue_end = &resident->next;
}

// A block that has just started and already waits goes first: what it waits for is done by older ones, and most often
// by the one before it. One that has waited in vain again lets all others try.
static void enqueue_waiting(sim_runner *runner, sim_resident *resident)
{
    if (resident->waited) {
        enqueue(runner, resident);
        return;
    }
    resident->waited = true;
    resident->next = runner->blocks.queue;
    runner->blocks.queue = resident;
    if (!resident->next)
        runner->blocks.queue_end = &resident->next;
}

static sim_resident *dequeue(sim_runner *runner)
{
    sim_resident *resident = runner->blocks.queue;
    if (!resident)
        return NULL;
    runner->blocks.queue = resident->next;
    if (!runner->blocks.queue)
        runner->blocks.queue_end = &runner->blocks.queue;
    runner->blocks.stopped -= resident->stopped;
    resident->stopped = false;
    return resident;
}

static sim_resident *start_block(sim_worker *worker)
{
    uint64_t position = atomic_fetch_add(&run.next, 1);
    if (position >= run.launch->blocks)
        return NULL;
    sim_sample_wait(position);
    if (failed())
        return NULL;
    const uint64_t number = sim_order_block(position, run.launch->blocks);
    sim_resident *resident = sim_resident_new(worker);
    if (resident) {
        sim_resident_begin(worker, resident, number);
        resident->block.unwatched = !sim_sample_watches(position, number);
    }
    if (!resident || !sim_resident_bring(worker, resident)) {
        sim_launch_fail(run.launch, SIM_ERROR_MEMORY);
        return NULL;
    }
    if (sim_watching)
        sim_watch_block_begin(worker);
    sim_progress_step(worker);
    return resident;
}

// The block to go on with. New blocks come first: what a spinning block waits for may be done by one of them.
static sim_resident *choose(sim_worker *worker)
{
    sim_runner *runner = sim_runner_of(worker);
    while (!failed()) {
        if (runner->blocks.stopped < MOST_STOPPED &&
            (runner->blocks.count < MOST_RESIDENT || run.launch->config.cooperative)) {
            sim_resident *started = start_block(worker);
            if (started)
                return started;
        }
        sim_resident *resident = dequeue(runner);
        if (resident && sim_resident_bring(worker, resident))
            return resident;
        if (resident) {
            enqueue(runner, resident);
            sim_launch_fail(run.launch, SIM_ERROR_MEMORY);
        } else if (!runner->blocks.grid_queue || !sim_grid_wait(worker)) {
            break;
        }
    }
    return NULL;
}

static void end_block(sim_worker *worker, sim_resident *resident)
{
    if (resident->shuffles.warps_open)
        sim_shuffles_conclude(worker);
    if (sim_watching)
        sim_watch_block_end(worker);
    sim_resident_free(worker, resident);
    sim_shown_block_ended();
}

static void abandon(sim_worker *worker, sim_resident *resident)
{
    if (sim_watching)
        sim_watch_warp_stopped(worker);
    sim_block_abandon(worker, resident);
    end_block(worker, resident);
    sim_grid_wake();
}

// The block met at a barrier, and is to go on after others.
static void stop(sim_worker *worker, sim_resident *resident)
{
    sim_runner *runner = sim_runner_of(worker);
    sim_block *block = &resident->block;
    for (int warp = 0; warp < block->launch->warps; warp++)
        if (block->live[warp])
            sim_lane_ready(resident, warp, block->live[warp]);
    enqueue(runner, resident);
    runner->blocks.stopped++;
}

// No thread of the block can run.
static void stuck(sim_worker *worker, sim_resident *resident)
{
    const sim_block *block = &resident->block;
    if (resident->stopped) {
        stop(worker, resident);
        return;
    }
    if (resident->at_grid && resident->at_grid + block->ended == run.launch->threads) {
        sim_grid_arrive(worker, resident);
        return;
    }
    if (!resident->progress.warps_spinning) {
        sim_deadlock_report(worker);
        sim_launch_fail(run.launch, SIM_ERROR_FAILURE);
    } else if (sim_spin_endless(worker, sim_runner_of(worker)->blocks.count)) {
        sim_spin_report(worker);
        sim_launch_fail(run.launch, SIM_ERROR_TIMEOUT);
    } else {
        sim_wake_polling(resident);
        enqueue_waiting(sim_runner_of(worker), resident);
        return;
    }
    abandon(worker, resident);
}

static void abandon_queue(sim_worker *worker, sim_resident *resident)
{
    while (resident) {
        sim_resident *next = resident->next;
        worker->block = &resident->block;
        sim_block_abandon(worker, resident);
        end_block(worker, resident);
        resident = next;
    }
}

static void set_index(sim_runner *runner, sim_dim block)
{
    sim_block_size_variable = block;
    sim_grid_size_variable = run.launch->config.grid;
    if (memcmp(&runner->indexed, &block, sizeof block) == 0)
        return;
    runner->indexed = block;
    for (int thread = 0; thread < run.launch->threads; thread++) {
        unsigned number = (unsigned)thread;
        runner->index[thread] = (sim_dim){number % block.x, number / block.x % block.y, number / block.x / block.y};
    }
}

// A worker's share of the current launch.
static void run_blocks(sim_worker *worker)
{
    sim_runner *runner = sim_runner_of(worker);
    worker->launch = run.launch;
    runner->blocks.queue_end = &runner->blocks.queue;
    runner->blocks.grid_queue_end = &runner->blocks.grid_queue;
    runner->progress.idle_count = 0;
    runner->blocks.stopped = 0;
    set_index(runner, run.launch->config.block);
    for (sim_resident *resident; (resident = choose(worker));) {
        switch (sim_block_go(worker)) {
        case SIM_BLOCK_ENDED:
            end_block(worker, resident);
            sim_grid_block_ended(worker);
            break;
        case SIM_BLOCK_ABANDONED: abandon(worker, resident); break;
        case SIM_BLOCK_STUCK: stuck(worker, resident); break;
        }
    }
    sim_sample_leave();
    abandon_queue(worker, runner->blocks.queue);
    abandon_queue(worker, runner->blocks.grid_queue);
    runner->blocks.queue = runner->blocks.grid_queue = NULL;
    worker->block = NULL;
    worker->launch = NULL;
}

void (*sim_printf_flush)(void);

static void cannot_run(const sim_launch_state *launch, const char *why)
{
    sim_finding finding = {.kind = SIM_BAD_LAUNCH, .tier = SIM_ERROR, .kernel = launch->kernel->name};
    snprintf(finding.message, sizeof finding.message, "the kernel cannot run: %s", why);
    finding.place[0] = (sim_place){.pc = launch->launched_at, .role = "launch"};
    sim_report(&finding);
}

static int workers_for(const sim_launch_state *launch)
{
    const unsigned blocks_meet = SIM_USES_ATOMICS | SIM_USES_FENCES | SIM_USES_PRINTF | SIM_USES_HEAP;
    if (launch->uses & blocks_meet)
        return 1;
    return launch->blocks < (uint64_t)sim_workers ? (int)launch->blocks : sim_workers;
}

int sim_run(sim_launch_state *launch)
{
    sim_dim grid = launch->config.grid, block = launch->config.block;
    launch->blocks = (uint64_t)grid.x * grid.y * grid.z;
    launch->threads = (int)(block.x * block.y * block.z);
    launch->warps = (launch->threads + SIM_LANES - 1) / SIM_LANES;
    launch->failed = false;
    launch->error = 0;
    memset(launch->faults, 0, sizeof launch->faults);
    const char *missing = sim_pool_start();
    if (missing) {
        cannot_run(launch, missing);
        return SIM_ERROR_MEMORY;
    }
    launch->uses = sim_kernel_uses(launch->kernel);
    if (sim_sample_repeats(launch))
        return 0;
    sim_workers_taking_part = workers_for(launch);
    run.launch = launch;
    atomic_store(&run.next, 0);
    sim_grid_begin(launch);
    sim_turns_begin(launch);
    if (sim_watching)
        sim_watch_launch_begin(launch);
    sim_sample_begin(launch);
    sim_shown_begin(launch);
    sim_host_thread_waits(1);
    sim_pool_run(run_blocks, sim_workers_taking_part);
    sim_host_thread_waits(-1);
    sim_shown_end();
    sim_sample_end(launch);
    if (sim_watching)
        sim_watch_launch_end(launch);
    if (sim_printf_flush)
        sim_printf_flush();
    if (launch->error)
        sim_stopped_early(launch->failed);
    return launch->error;
}
