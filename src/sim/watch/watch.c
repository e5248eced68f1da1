// The scheduler's side of the watch: what to do when launches and blocks begin and end, and when threads change, meet
// and stop.
#include "watch/watch.h"

#include <string.h>

#include "machine/options.h"
#include "program/program.h"
#include "race/clock.h"
#include "race/launches.h"
#include "race/sync.h"
#include "race/values.h"
#include "race/word.h"
#include "watch/branches.h"
#include "watch/internal.h"
#include "watch/trace.h"

static void forget_accesses(sim_region *region)
{
    if (region->pages)
        sim_region_forget(region, region->base, region->span);
}

static void forget_all_accesses(void)
{
    forget_accesses(&sim_global_region);
    forget_accesses(&sim_data_region);
    for (int i = 0; i < sim_workers; i++) {
        const sim_worker *worker = sim_worker_at(i);
        if (worker && worker->watch)
            forget_accesses(&worker->race->shared);
    }
}

void sim_watch_launch_begin(sim_launch_state *launch)
{
    if (!sim_watch_ready())
        return;
    if (sim_clock_restart())
        forget_all_accesses();
    sim_clock_launch_begin(launch);
    sim_sync_launch_begin();
    sim_copies_launch_begin(launch->number);
    sim_repeated_begin(launch);
    sim_trace_launch_begin(launch);
    for (int i = 0; i < sim_workers; i++) {
        sim_worker *worker = sim_worker_at(i);
        if (!worker) // memory may have been freed since
            continue;
        if (!worker->watch)
            continue;
        sim_slots_forget(worker);
        sim_ranges_forget(worker);
        worker->watch->published.count = 0; // of a launch that failed
        memset(worker->watch->known, 0, sizeof worker->watch->known);
    }
}

void sim_watch_child(sim_worker *worker, sim_origin *origin)
{
    sim_thread_acts(worker);
    if (!sim_watching || !worker->block->clock || !(worker->launch->uses & SIM_USES_LAUNCHES))
        return;
    sim_merge_lanes(worker, 1u << worker->lane);
    sim_clock_child(worker->block->clock, worker->thread, origin);
}

void sim_watch_launch_end(sim_launch_state *launch)
{
    if (!sim_watching)
        return;
    sim_counters_collect(launch);
    sim_repeated_end(launch);
}

bool sim_watch_repeats(sim_launch_state *launch, bool spent)
{
    if (!sim_watching || !sim_repeated_is(launch, spent))
        return false;
    sim_counters_repeated(launch);
    return true;
}

// A traced block looks each access up: what other blocks have found good is forgotten.
static void look_at_all(sim_worker *worker)
{
    if (!sim_trace_looks(worker))
        return;
    sim_slots_forget(worker);
    sim_ranges_forget(worker);
}

// Every __shared__ variable and the dynamic part hold nothing yet.
static void forget_shared(sim_worker *worker)
{
    sim_region *shared = &worker->race->shared;
    size_t count;
    const sim_shared_variable *variable = sim_shared_variables(&count);
    for (size_t i = 0; i < count; i++) {
        uintptr_t start = worker->thread_local_lo + variable[i].offset;
        if (start != worker->dynamic_lo)
            sim_region_mark(shared, start, variable[i].bytes, false);
    }
    sim_region_mark(shared, worker->dynamic_lo, worker->launch->config.shared, false);
}

void sim_watch_block_begin(sim_worker *worker)
{
    if (!sim_watching)
        return;
    worker->block->branches = NULL;
    worker->block->clock = NULL;
    worker->block->faulted = false;
    worker->block->logged = false;
    worker->block->fault_at = 0;
    memset(worker->block->misled, 0, sizeof worker->block->misled);
    worker->watch->single = false; // a thread that failed in the middle of a hook may have left it
    if (!worker->block->unwatched) {
        worker->block->clock = sim_clock_block_begin(worker->block);
        forget_shared(worker);
    }
    sim_ranges_enter(worker);
    sim_published_begin(worker);
    struct sim_watch *watch = worker->watch;
    memset(watch->head, 0, sizeof watch->head);
    memset(watch->tail, 0, sizeof watch->tail);
    memset(watch->raced, 0, sizeof watch->raced);
    worker->log_entered = false;
    sim_trace_block_begin(worker);
    look_at_all(worker);
}

void (*sim_async_left)(sim_worker *worker);

void sim_watch_block_end(sim_worker *worker)
{
    if (!sim_watching)
        return;
    sim_watch_leave(worker);
    sim_merge(worker, 0);
    sim_published_end(worker);
    if (worker->block->trace)
        sim_trace_block_end(worker);
    if (sim_async_left && worker->block->clock && !worker->launch->failed)
        sim_async_left(worker);
    if (worker->block->clock)
        sim_region_free(&worker->block->clock->shared); // of a block that was abandoned while it was parked
    sim_clock_block_end(worker->block->clock);
    worker->block->clock = NULL;
    sim_branches_block_end(worker);
}

void sim_watch_block_park(sim_worker *worker)
{
    if (!sim_watching)
        return;
    sim_watch_leave(worker);
    sim_merge(worker, 0);
    sim_published_park(worker);
    if (!worker->block->clock)
        return;
    worker->block->clock->shared = worker->race->shared;
    sim_region_make(&worker->race->shared, worker->thread_local_lo, worker->thread_local_hi - worker->thread_local_lo,
                    true, true);
}

void sim_watch_block_resume(sim_worker *worker)
{
    sim_block_clock *clock = worker->block->clock;
    if (!sim_watching)
        return;
    sim_ranges_enter(worker);
    sim_published_resume(worker);
    look_at_all(worker);
    if (!clock)
        return;
    if (clock->stamp < sim_clock_floor) // the grid has met since
        sim_clock_barrier(clock);
    if (!clock->shared.pages)
        return;
    sim_region_free(&worker->race->shared);
    worker->race->shared = clock->shared;
    clock->shared = (sim_region){0};
}

void sim_watch_settle(sim_worker *worker)
{
    if (worker->settles)
        sim_values_settle(worker);
    if (worker->block->trace)
        sim_trace_settle(worker);
}

sim_polled sim_watch_polled(sim_worker *worker)
{
    static const uint8_t looks[] = {[SIM_READ] = SIM_LOOK_READ,
                                    [SIM_WRITE] = SIM_LOOK_UNKNOWN,
                                    [SIM_ATOMIC] = SIM_LOOK_ATOMIC,
                                    [SIM_VOLATILE_READ] = SIM_LOOK_VOLATILE,
                                    [SIM_VOLATILE_WRITE] = SIM_LOOK_UNKNOWN};
    const struct sim_watch *watch = worker->watch;
    if (sim_watch_log_all(worker) || !watch || !worker->log_entered || worker->log_next == watch->log[worker->lane])
        return (sim_polled){0};
    uint64_t last = worker->log_next[-1];
    const sim_site *about = &sim_sites[last >> SIM_ENTRY_SHIFT];
    uint8_t look = looks[about->kind];
    return look ? (sim_polled){last & SIM_ENTRY_ADDRESS, about->bytes, look} : (sim_polled){0};
}

// Merging moves what is left in a log; the current lane goes on behind it.
static void merge_in_place(sim_worker *worker, uint32_t unfinished)
{
    bool entered = worker->log_entered;
    sim_watch_leave(worker);
    sim_merge(worker, unfinished);
    if (entered)
        sim_watch_enter(worker);
}

void sim_watch_forsake(sim_worker *worker)
{
    merge_in_place(worker, 0);
    if (worker->block->trace)
        sim_trace_forsaken(worker);
    worker->block->faulted = worker->block->unwatched = true;
    sim_ranges_enter(worker);
}

uint32_t sim_watch_warp_stopped(sim_worker *worker)
{
    uint32_t full = worker->block->full_log[worker->warp];
    if (!sim_watching)
        return full;
    merge_in_place(worker, full);
    if (worker->block->trace)
        sim_trace_warp_stopped(worker);
    sim_branches_warp_stopped(worker, full);
    uint32_t room = 0;
    for (uint32_t rest = full; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        room |= (uint32_t)(worker->watch->tail[lane] < SIM_LOG_ENTRIES) << lane;
    }
    return room;
}

// Threads that meet may hand on what one of them read.
static void spread(sim_block *block)
{
    if (block->fault_at)
        memset(block->misled, 0xff, sizeof block->misled);
}

void sim_watch_barrier(sim_worker *worker)
{
    if (!sim_watching)
        return;
    spread(worker->block);
    merge_in_place(worker, 0);
    if (worker->block->trace)
        sim_trace_barrier(worker);
    sim_branches_settle(worker);
    worker->watch->barriers += !worker->block->unwatched;
    if (worker->block->clock)
        sim_clock_barrier(worker->block->clock);
}

void sim_watch_barrier_some(sim_worker *worker, int id, const uint32_t members[SIM_WARPS])
{
    if (!sim_watching)
        return;
    spread(worker->block);
    // The last to come may only arrive: its warp goes on, and its rows are not complete.
    if (members[worker->warp] >> worker->lane & 1)
        merge_in_place(worker, 0);
    else
        sim_merge_lanes(worker, members[worker->warp]);
    if (worker->block->trace)
        sim_trace_barrier_some(worker, id, members);
    if (worker->block->clock)
        sim_clock_barrier_some(worker->block->clock, id, members);
}

void sim_watch_barrier_arrive(sim_worker *worker, int id)
{
    if (!sim_watching || !worker->block->clock)
        return;
    // What the thread does from now on is not part of what it arrives with.
    sim_merge_lanes(worker, 1u << worker->lane);
    sim_clock_barrier_arrive(worker->block->clock, id, worker->thread);
}

void sim_watch_barrier_grid(sim_launch_state *launch)
{
    (void)launch;
    if (sim_watching)
        sim_clock_barrier_grid();
}

void sim_watch_warp_met(sim_worker *worker, uint32_t mask, bool ordered)
{
    if (!sim_watching)
        return;
    spread(worker->block);
    // A whole warp stands still: its rows are complete. Part of one: only the detector must know of it now.
    if (mask == worker->block->live[worker->warp])
        merge_in_place(worker, 0);
    else if (ordered)
        sim_merge_lanes(worker, mask);
    if (ordered && worker->block->trace)
        sim_trace_warp_met(worker, mask);
    if (ordered && worker->block->clock)
        sim_clock_warp(worker->block->clock, worker->warp, mask);
}
