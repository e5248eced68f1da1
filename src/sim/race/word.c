// What an access does to the cell of one word where the common case does not apply.

#include "race/word.h"

#include "machine/options.h"
#include "race/exact.h"
#include "race/granule.h"
#include "race/launches.h"
#include "race/race.h"
#include "race/read_only.h"
#include "race/unfenced.h"

sim_region sim_global_region, sim_data_region;

sim_region *sim_region_of(sim_worker *worker, uintptr_t address)
{
    if (address - sim_global_region.base < sim_global_region.span)
        return &sim_global_region;
    sim_region *shared = &worker->race->shared;
    if (address - shared->base < shared->span)
        return shared;
    if (address - sim_data_region.base < sim_data_region.span)
        return &sim_data_region;
    return NULL;
}

void sim_view_make(sim_view *view, sim_worker *worker, const sim_region *region, unsigned site)
{
    sim_block_clock *clock = worker->block->clock;
    const sim_site *about = &sim_sites[site];
    const unsigned finer = SIM_USES_FENCES | SIM_USES_NAMED_BARRIERS | SIM_USES_LAUNCHES;
    const bool passed = clock->passed >> worker->warp & 1;
    uint32_t floor = region->shared ? clock->stamp : passed ? sim_clock_floor_passed : sim_clock_floor;
    *view = (sim_view){.worker = worker,
                       .clock = clock,
                       .floor = (uint64_t)floor << SIM_STAMP_SHIFT,
                       .begun = (uint64_t)sim_clock_begun << SIM_STAMP_SHIFT,
                       .shared = region->shared,
                       .common = sim_region_common(region),
                       .finer_lanes = (worker->launch->uses & (SIM_USES_WARP_SYNC)) != 0,
                       .finer_threads = (worker->launch->uses & finer) != 0,
                       .site = site,
                       .kind = about->kind,
                       .scope = about->scope,
                       .what = about->what};
}

static void found(const sim_view *view, int thread, uint64_t word, unsigned kind, uintptr_t address)
{
    sim_earlier earlier = {sim_stamp_of(word), sim_thread_of(word), sim_site_of(word), kind, false, 0};
    sim_race_found(view, thread, &earlier, address);
}

static void found_unfenced(const sim_view *view, int thread, uint64_t word, uintptr_t address)
{
    sim_earlier earlier = {sim_stamp_of(word), sim_thread_of(word), sim_site_of(word), SIM_WRITE, false, 0};
    sim_unfenced_check(view, thread, &earlier, sim_clock_of(word), address);
}

// Of two readers that a later write would be judged by alike, the one to name: not the thread that wrote the word
// last, nor a warp's first lane, for these are the likeliest to write it next, and no thread races with itself.
static uint64_t reader_named(const sim_cell *cell, uint64_t old, uint64_t me)
{
    unsigned writer = sim_thread_of(cell->write), first = sim_thread_of(old);
    bool avoid = first == writer || (first % SIM_LANES == 0 && sim_thread_of(me) != writer);
    return avoid ? me : old & ~SIM_FLAGS;
}

// Who has read the word, now that `me` has too.
static void add_reader(const sim_view *view, sim_cell *cell, uint64_t me, unsigned many, uintptr_t address)
{
    int thread = (int)sim_thread_of(me);
    uint64_t old = cell->read;
    unsigned flags = (unsigned)(old & SIM_FLAGS);
    if (old < view->floor) {
        cell->read = me | many;
        return;
    }
    if (flags == SIM_MANY_BLOCKS && old >= view->begun)
        return;
    if (sim_stamp_of(old) != sim_stamp_of(me)) {
        uint32_t serial = view->shared ? view->clock->serial : sim_clock_block_of(sim_stamp_of(old));
        if (serial == view->clock->serial || sim_clock_launch_ended(view->clock, view->clock->known[thread], serial))
            cell->read = me | many;
        else if (!view->finer_threads && old >= view->begun)
            cell->read = reader_named(cell, old, me) | SIM_MANY_BLOCKS;
        else
            sim_exact_access(view, cell, thread, address);
        return;
    }
    if (sim_same_thread(old, me)) {
        cell->read = me | (flags > many ? flags : many);
        return;
    }
    if (sim_thread_of(old) / SIM_LANES != sim_thread_of(me) / SIM_LANES) {
        if (!view->finer_threads)
            cell->read = reader_named(cell, old, me) | SIM_MANY_WARPS;
        else
            sim_exact_access(view, cell, thread, address);
        return;
    }
    if (flags <= SIM_MANY_LANES && sim_view_ordered(view, thread, old)) {
        cell->read = me | many; // earlier readers of the warp met this one since
        return;
    }
    if (view->finer_lanes || view->finer_threads)
        sim_exact_access(view, cell, thread, address);
    else
        cell->read = reader_named(cell, old, me) | (flags > SIM_MANY_LANES ? flags : SIM_MANY_LANES);
}

void sim_word_read_slow(const sim_view *view, sim_cell *cell, uint64_t me, uintptr_t address)
{
    int thread = (int)sim_thread_of(me);
    if (sim_exact_is(cell) && !sim_exact_outlived(view, cell)) {
        sim_exact_access(view, cell, thread, address);
        return;
    }
    uint64_t write = cell->write;
    if (write >= view->floor && !sim_view_ordered(view, thread, write))
        found(view, thread, write, SIM_WRITE, address);
    else if (write >= view->floor && sim_unfenced_any(view->clock, thread))
        found_unfenced(view, thread, write, address);
    else if (write >= view->begun && !view->shared && sim_read_only_any())
        sim_read_only_read(view, thread, write, address);
    add_reader(view, cell, me, SIM_ONE_READER, address);
}

// Whether some reader of the word is not ordered before the write of `thread`.
static bool readers_race(const sim_view *view, int thread, uint64_t read)
{
    unsigned flags = (unsigned)(read & SIM_FLAGS);
    if (flags == SIM_MANY_BLOCKS && read >= view->begun)
        return true;
    bool now = sim_stamp_of(read) == view->clock->stamp;
    if (flags == SIM_MANY_WARPS && now)
        return true;
    if (flags == SIM_MANY_LANES && now && sim_thread_of(read) == (unsigned)thread)
        return true; // the others of its warp, at the same clock
    return !sim_view_ordered(view, thread, read);
}

void sim_word_write_slow(const sim_view *view, sim_cell *cell, uint64_t me, uintptr_t address)
{
    int thread = (int)sim_thread_of(me);
    if (sim_exact_is(cell) && !sim_exact_outlived(view, cell)) {
        sim_exact_access(view, cell, thread, address);
        return;
    }
    uint64_t write = cell->write, read = cell->read;
    if (write >= view->floor && !sim_view_ordered(view, thread, write))
        found(view, thread, write, SIM_WRITE, address);
    else if (write >= view->floor && sim_unfenced_any(view->clock, thread))
        found_unfenced(view, thread, write, address);
    if (read >= view->floor && readers_race(view, thread, read))
        found(view, thread, read, SIM_READ, address);
    *cell = (sim_cell){.write = me};
}
