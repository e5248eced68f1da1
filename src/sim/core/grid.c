// The barrier of a whole grid. A block whose live threads all wait here is put away until every block of the launch has
// come; the blocks of a launch may be on several workers, so this is the one place in core/ where workers wait for each
// other.
#include <stdio.h>

#include "core/launch.h"
#include "core/scheduler.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    sim_launch_state *launch;
    uint64_t waiting, ended; // blocks
    uint64_t round;          // barriers passed
    sim_finding stranded;    // what is to be said if the blocks that wait now wait forever
} grid = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

void sim_barrier_grid(void)
{
    sim_worker *worker = sim_current;
    if (!worker)
        return;
    sim_block *block = worker->block;
    uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    sim_thread_stops(worker);
    if (!worker->launch->config.cooperative) {
        sim_finding finding = sim_finding_make(worker, SIM_BAD_LAUNCH, SIM_ERROR);
        snprintf(finding.message, sizeof finding.message,
                 "a grid-wide barrier in a kernel that was not launched with cudaLaunchCooperativeKernel");
        finding.place[0] = sim_place_of(worker, worker->thread, pc, "barrier");
        finding.place[1] = (sim_place){.pc = worker->launch->launched_at, .role = "launch"};
        sim_report(&finding);
        sim_block_fail(worker, SIM_ERROR_FAILURE);
    }
    block->waits_at[worker->thread] = pc;
    block->state[worker->thread] = SIM_AT_GRID;
    block->ready[worker->warp] &= ~(1u << worker->lane);
    sim_resident_of(block)->at_grid++;
    sim_thread_waits(worker);
}

void sim_grid_begin(sim_launch_state *launch)
{
    grid.launch = launch;
    grid.waiting = grid.ended = 0;
}

static int first_live(const sim_block *block)
{
    for (int warp = 0; warp < block->launch->warps; warp++)
        if (block->live[warp])
            return warp * SIM_LANES + __builtin_ctz(block->live[warp]);
    return 0;
}

// The lock is held.
static void look(void)
{
    sim_launch_state *launch = grid.launch;
    if (!grid.waiting || grid.waiting + grid.ended != launch->blocks)
        return;
    if (grid.ended) {
        snprintf(grid.stranded.message, sizeof grid.stranded.message,
                 "%llu %s at the grid barrier, but %llu %s ended without reaching it", (unsigned long long)grid.waiting,
                 grid.waiting == 1 ? "block waits" : "blocks wait", (unsigned long long)grid.ended,
                 grid.ended == 1 ? "block has" : "blocks have");
        sim_report(&grid.stranded);
        sim_launch_fail(launch, SIM_ERROR_FAILURE);
    } else {
        if (sim_watching)
            sim_watch_barrier_grid(launch);
        grid.waiting = 0;
        grid.round++;
    }
    pthread_cond_broadcast(&grid.changed);
}

static void compare_places(sim_worker *worker, const sim_block *block)
{
    uintptr_t place = block->waits_at[first_live(block)];
    for (int warp = 0; warp < block->launch->warps; warp++)
        for (uint32_t rest = block->live[warp]; rest; rest &= rest - 1)
            if (block->waits_at[warp * SIM_LANES + __builtin_ctz(rest)] != place) {
                sim_barrier_compare(worker, block->live, "grid barrier");
                return;
            }
}

// The first thread of a block is the one that tells the other blocks: without it the block never counts as arrived.
// Other threads that have ended are forgiven, as at __syncthreads.
static void look_for_exited(sim_worker *worker, sim_resident *resident, int thread)
{
    const sim_block *block = &resident->block;
    uintptr_t place = block->waits_at[thread];
    if (!block->ended || resident->barrier.exited_at == place)
        return;
    resident->barrier.exited_at = place;
    if (block->live[0] & 1) {
        sim_barrier_exited(worker, block->live);
        return;
    }
    sim_finding finding = sim_finding_make(worker, SIM_DEADLOCK, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message,
             "a block waits at the grid barrier, but its first thread, which arrives for the block, has ended");
    finding.place[0] = sim_place_of(worker, thread, place, "barrier");
    sim_report(&finding);
    sim_launch_fail(worker->launch, SIM_ERROR_FAILURE);
    sim_grid_wake();
}

void sim_grid_arrive(sim_worker *worker, sim_resident *resident)
{
    sim_runner *runner = sim_runner_of(worker);
    int thread = first_live(&resident->block);
    compare_places(worker, &resident->block);
    look_for_exited(worker, resident, thread);
    sim_finding stranded = sim_finding_make(worker, SIM_DEADLOCK, SIM_ERROR);
    stranded.place[0] = sim_place_of(worker, thread, resident->block.waits_at[thread], "barrier");
    if (!sim_resident_put_away(worker)) {
        sim_launch_fail(worker->launch, SIM_ERROR_MEMORY);
        sim_grid_wake();
    }
    resident->next = NULL;
    *runner->blocks.grid_queue_end = resident;
    runner->blocks.grid_queue_end = &resident->next;
    pthread_mutex_lock(&grid.lock);
    runner->blocks.grid_round = grid.round;
    if (grid.waiting++ == 0)
        grid.stranded = stranded;
    look();
    pthread_mutex_unlock(&grid.lock);
}

void sim_grid_block_ended(sim_worker *worker)
{
    if (!worker->launch->config.cooperative)
        return;
    pthread_mutex_lock(&grid.lock);
    grid.ended++;
    look();
    pthread_mutex_unlock(&grid.lock);
}

static void release(sim_resident *resident)
{
    sim_block *block = &resident->block;
    for (int warp = 0; warp < block->launch->warps; warp++)
        if (block->live[warp])
            sim_lane_ready(resident, warp, block->live[warp]);
    resident->at_grid = 0;
    resident->progress.steps++;
}

bool sim_grid_wait(sim_worker *worker)
{
    sim_runner *runner = sim_runner_of(worker);
    sim_launch_state *launch = worker->launch;
    pthread_mutex_lock(&grid.lock);
    while (grid.round == runner->blocks.grid_round && !__atomic_load_n(&launch->failed, __ATOMIC_ACQUIRE))
        pthread_cond_wait(&grid.changed, &grid.lock);
    pthread_mutex_unlock(&grid.lock);
    if (__atomic_load_n(&launch->failed, __ATOMIC_ACQUIRE))
        return false;
    for (sim_resident *resident = runner->blocks.grid_queue; resident; resident = resident->next)
        release(resident);
    *runner->blocks.queue_end = runner->blocks.grid_queue;
    runner->blocks.queue_end = runner->blocks.grid_queue_end;
    runner->blocks.grid_queue = NULL;
    runner->blocks.grid_queue_end = &runner->blocks.grid_queue;
    return true;
}

void sim_grid_wake(void)
{
    pthread_mutex_lock(&grid.lock);
    pthread_cond_broadcast(&grid.changed);
    pthread_mutex_unlock(&grid.lock);
}
