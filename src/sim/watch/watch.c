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
#include "race/clock.h"
#include "race/sync.h"
#include "race/unwritten.h"
#include "watch/internal.h"

bool sim_watching;
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
    sim_values_start();
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
    watch->ran = sim_reserve((size_t)SIM_SITES * SIM_WARPS * sizeof *watch->ran);
    watch->repeat = sim_repeat_make();
    bool made = watch->counters && watch->touched && watch->ran && watch->repeat &&
                sim_region_make(&watch->shared, worker->thread_local_lo,
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
            forget_accesses(&worker->watch->shared);
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
    sim_region *shared = &worker->watch->shared;
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

// Tells sim_under_way_left of each copy of the block that nobody has waited for.
__attribute__((weak)) void sim_api_copies_left(sim_worker *worker);

void sim_watch_block_end(sim_worker *worker)
{
    if (!sim_watching)
        return;
    sim_watch_leave(worker);
    sim_merge(worker, 0);
    if (sim_api_copies_left && worker->block->clock && !worker->launch->failed)
        sim_api_copies_left(worker);
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
    worker->block->clock->shared = worker->watch->shared;
    sim_region_make(&worker->watch->shared, worker->thread_local_lo, worker->thread_local_hi - worker->thread_local_lo,
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
    sim_region_free(&worker->watch->shared);
    worker->watch->shared = clock->shared;
    clock->shared = (sim_region){0};
}

void sim_watch_leave(sim_worker *worker)
{
    struct sim_watch *watch = worker->watch;
    if (!watch || !watch->entered)
        return;
    watch->tail[worker->lane] = (uint32_t)(worker->log_next - watch->log[worker->lane]);
    watch->entered = false;
    if (watch->pending.address)
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

// --- memory ----------------------------------------------------------------------------------------------------------

static bool in_global(uintptr_t start)
{
    return start - sim_global_region.base < sim_global_region.span;
}

void sim_watch_allocated(uintptr_t start, size_t bytes, bool initialised)
{
    // What nothing was ever allocated in, or has been freed, counts as not written.
    if (sim_watch_ready() && in_global(start) && initialised)
        sim_region_mark(&sim_global_region, start, bytes, true);
}

void sim_watch_freed(uintptr_t start, size_t bytes)
{
    if (!sim_watching || !in_global(start))
        return;
    // A kernel frees too: what its warp did with the memory so far is judged before.
    if (sim_current && sim_current->watch && sim_current->block->clock)
        sim_merge_lanes(sim_current, UINT32_MAX);
    sim_region_release(&sim_global_region, start, bytes);
    sim_outputs_forget(start, bytes);
}

void sim_watch_filled(uintptr_t start, size_t bytes)
{
    if (!sim_watch_ready() || !in_global(start))
        return;
    sim_region_mark(&sim_global_region, start, bytes, true);
    if (sim_current)
        sim_outputs_add(sim_current->launch->number, start, bytes);
}

void sim_watch_copied(uintptr_t to, uintptr_t from, size_t bytes)
{
    if (!sim_watch_ready() || !in_global(to))
        return;
    if (!from || !in_global(from)) {
        sim_region_mark(&sim_global_region, to, bytes, true);
        return;
    }
    sim_region *region = &sim_global_region;
    uintptr_t first;
    if (sim_watch_initialised(from, bytes, &first)) {
        sim_region_mark(region, to, bytes, true);
        return;
    }
    for (size_t i = 0; i < bytes; i++) {
        size_t at = from + i - region->base;
        sim_region_mark(region, to + i, 1, region->initialised[at >> SIM_WORD_SHIFT] >> (at % 4) & 1);
    }
}

bool sim_watch_initialised(uintptr_t start, size_t bytes, uintptr_t *first)
{
    if (!sim_watching || !in_global(start))
        return true;
    const sim_region *region = &sim_global_region;
    for (size_t at = start - region->base, end = at + bytes; at < end;) {
        uint8_t word = region->initialised[at >> SIM_WORD_SHIFT];
        if (word == SIM_WORD_INITIALISED) {
            at = (at | 3) + 1;
            continue;
        }
        if (!(word >> (at % 4) & 1)) {
            *first = region->base + at;
            return false;
        }
        at++;
    }
    return true;
}

size_t sim_watch_unwritten(uintptr_t first, size_t most)
{
    const sim_region *region = &sim_global_region;
    size_t count = 0;
    for (size_t at = first - region->base; count < most; count++, at++)
        if (region->initialised[at >> SIM_WORD_SHIFT] >> (at % 4) & 1)
            break;
    return count;
}
