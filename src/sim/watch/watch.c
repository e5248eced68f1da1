// The scheduler's and the API's side of the watch: what to do when threads change, meet and end, and when memory comes,
// goes and is filled.

#include "watch/watch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machine/options.h"
#include "memory/memory.h"
#include "memory/reserve.h"
#include "program/program.h"
#include "progress/repeat.h"
#include "race/clock.h"
#include "race/site.h"
#include "race/sync.h"
#include "race/unwritten.h"
#include "race/values.h"
#include "race/word.h"
#include "watch/internal.h"

// Code built with hooks calls this before main, and so brings hooks.c into the program.
__attribute__((weak)) void __tsan_init(void);

static void warn_unwatched(void)
{
    fprintf(stderr, "sim: nothing is checked or counted: no address space for it (raise `ulimit -v`)\n");
}

static void get_ready(void)
{
    if (!sim_options_get()->watch || !__tsan_init)
        return;
    sim_sites_start();
    const sim_module *module = sim_module_self();
    bool made = sim_clock_start() &&
                sim_region_make(&sim_global_region, sim_memory_base, sim_memory_span, true, false) &&
                sim_region_make(&sim_data_region, module->data_lo, module->data_hi - module->data_lo, false, false);
    sim_watching = made && sim_code_bytes > 0;
    if (!sim_watching)
        warn_unwatched();
}

bool sim_watch_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, get_ready);
    return sim_watching;
}

static struct sim_watch *make_watch(sim_worker *worker)
{
    struct sim_watch *watch = sim_reserve(sizeof *watch);
    sim_slot *slots = sim_reserve(SIM_SLOTS * sizeof *slots);
    if (!watch || !slots)
        return NULL;
    watch->counters = sim_reserve((size_t)SIM_SITES * SIM_SPACES * sizeof(sim_counter));
    watch->touched = sim_reserve((size_t)SIM_SITES * SIM_SPACES * sizeof(uint32_t));
    watch->race.ran = sim_reserve((size_t)SIM_SITES * SIM_WARPS * sizeof *watch->race.ran);
    bool made = watch->counters && watch->touched && watch->race.ran && sim_repeat_start(worker) &&
                sim_region_make(&watch->race.shared, worker->thread_local_lo,
                                worker->thread_local_hi - worker->thread_local_lo, true, true);
    worker->slots = made ? slots : worker->slots;
    return made ? watch : NULL;
}

void sim_watch_start(sim_worker *worker)
{
    static sim_slot no_slots[SIM_SLOTS]; // the hooks look at them whether anything is watched or not
    worker->slots = no_slots;
    if (!sim_watch_ready())
        return;
    struct sim_watch *watch = make_watch(worker);
    if (!watch) {
        sim_watching = false;
        warn_unwatched();
        return;
    }
    worker->watch = watch;
    worker->race = &watch->race;
    worker->log_next = watch->log[0];
    worker->log_end = watch->log[0] + SIM_LOG_ENTRIES;
}

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
    for (int i = 0; i < sim_workers; i++) {
        sim_worker *worker = sim_worker_at(i);
        if (worker) // memory may have been freed since
            madvise(worker->slots, SIM_SLOTS * sizeof(sim_slot), MADV_DONTNEED);
    }
}

void sim_watch_launch_end(sim_launch_state *launch)
{
    if (sim_watching)
        sim_counters_collect(launch);
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
    worker->block->clock = sim_clock_block_begin(worker->block);
    forget_shared(worker);
    struct sim_watch *watch = worker->watch;
    memset(watch->head, 0, sizeof watch->head);
    memset(watch->tail, 0, sizeof watch->tail);
    memset(watch->raced, 0, sizeof watch->raced);
    watch->entered = false;
}

const sim_scheduler_calls *sim_scheduler;
void (*sim_async_left)(sim_worker *worker);

void sim_watch_block_end(sim_worker *worker)
{
    if (!sim_watching)
        return;
    sim_watch_leave(worker);
    sim_merge(worker, 0);
    if (sim_async_left && worker->block->clock && !worker->launch->failed)
        sim_async_left(worker);
    if (worker->block->clock)
        sim_region_free(&worker->block->clock->shared); // of a block that was abandoned while it was parked
    sim_clock_block_end(worker->block->clock);
    worker->block->clock = NULL;
}

void sim_watch_block_park(sim_worker *worker)
{
    if (!sim_watching)
        return;
    sim_watch_leave(worker);
    sim_merge(worker, 0);
    if (!worker->block->clock)
        return;
    worker->block->clock->shared = worker->race->shared;
    sim_region_make(&worker->race->shared, worker->thread_local_lo, worker->thread_local_hi - worker->thread_local_lo,
                    true, true);
}

void sim_watch_block_resume(sim_worker *worker)
{
    sim_block_clock *clock = worker->block->clock;
    if (!sim_watching || !clock)
        return;
    if (clock->stamp < sim_clock_floor) // the grid has met since
        sim_clock_barrier(clock);
    if (!clock->shared.pages)
        return;
    sim_region_free(&worker->race->shared);
    worker->race->shared = clock->shared;
    clock->shared = (sim_region){0};
}

void sim_watch_leave(sim_worker *worker)
{
    struct sim_watch *watch = worker->watch;
    if (!watch || !watch->entered)
        return;
    watch->tail[worker->lane] = (uint32_t)(worker->log_next - watch->log[worker->lane]);
    watch->entered = false;
    if (watch->race.pending.address)
        sim_values_settle(worker);
}

sim_polled sim_watch_polled(const sim_worker *worker)
{
    static const uint8_t looks[] = {[SIM_READ] = SIM_LOOK_READ,
                                    [SIM_WRITE] = SIM_LOOK_UNKNOWN,
                                    [SIM_ATOMIC] = SIM_LOOK_ATOMIC,
                                    [SIM_VOLATILE_READ] = SIM_LOOK_VOLATILE,
                                    [SIM_VOLATILE_WRITE] = SIM_LOOK_UNKNOWN};
    const struct sim_watch *watch = worker->watch;
    if (!watch || !watch->entered || worker->log_next == watch->log[worker->lane])
        return (sim_polled){0};
    uint64_t last = worker->log_next[-1];
    const sim_site *about = &sim_sites[last >> SIM_ENTRY_SHIFT];
    uint8_t look = looks[about->kind];
    return look ? (sim_polled){last & SIM_ENTRY_ADDRESS, about->bytes, look} : (sim_polled){0};
}

void sim_watch_enter(sim_worker *worker)
{
    struct sim_watch *watch = worker->watch;
    if (!watch)
        return;
    uint64_t *log = watch->log[worker->lane];
    worker->log_next = log + watch->tail[worker->lane];
    worker->log_end = log + SIM_LOG_ENTRIES;
    watch->entered = true;
}

// Merging moves what is left in a log; the current lane goes on behind it.
static void merge_in_place(sim_worker *worker, uint32_t unfinished)
{
    bool entered = worker->watch->entered;
    sim_watch_leave(worker);
    sim_merge(worker, unfinished);
    if (entered)
        sim_watch_enter(worker);
}

uint32_t sim_watch_warp_stopped(sim_worker *worker)
{
    uint32_t full = worker->block->full_log[worker->warp];
    if (!sim_watching)
        return full;
    merge_in_place(worker, full);
    uint32_t room = 0;
    for (uint32_t rest = full; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        room |= (uint32_t)(worker->watch->tail[lane] < SIM_LOG_ENTRIES) << lane;
    }
    return room;
}

void sim_watch_barrier(sim_worker *worker)
{
    if (!sim_watching)
        return;
    merge_in_place(worker, 0);
    worker->watch->barriers++;
    if (worker->block->clock)
        sim_clock_barrier(worker->block->clock);
}

void sim_watch_barrier_some(sim_worker *worker, int id, const uint32_t members[SIM_WARPS])
{
    if (!sim_watching)
        return;
    // The last to come may only arrive: its warp goes on, and its rows are not complete.
    if (members[worker->warp] >> worker->lane & 1)
        merge_in_place(worker, 0);
    else
        sim_merge_lanes(worker, members[worker->warp]);
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
    // A whole warp stands still: its rows are complete. Part of one: only the detector must know of it now.
    if (mask == worker->block->live[worker->warp])
        merge_in_place(worker, 0);
    else if (ordered)
        sim_merge_lanes(worker, mask);
    if (ordered && worker->block->clock)
        sim_clock_warp(worker->block->clock, worker->warp, mask);
}
