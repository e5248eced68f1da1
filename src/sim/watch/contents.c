// Memory that comes, goes and is filled: what of it has been written.
#include "watch/watch.h"

#include "memory/reserve.h"
#include "race/last.h"
#include "race/word.h"
#include "watch/internal.h"

static bool in_global(uintptr_t start)
{
    return start - sim_global_region.base < sim_global_region.span;
}

// What host code stores in pinned and managed memory is not all seen, so it counts as initialised. Everything else that
// is new, or was freed, does not.
void *sim_watch_allocate(size_t bytes, sim_memory_kind kind, uintptr_t pc, const char *function)
{
    void *memory = sim_memory_allocate(bytes, kind, pc, function);
    if (!memory || !sim_watch_ready() || !in_global((uintptr_t)memory))
        return memory;
    sim_repeated_changed((uintptr_t)memory);
    sim_region *region = &sim_global_region;
    sim_reserve_huge(region->initialised + (((uintptr_t)memory - region->base) >> SIM_WORD_SHIFT),
                     bytes >> SIM_WORD_SHIFT);
    if (kind == SIM_MEMORY_PINNED || kind == SIM_MEMORY_MANAGED)
        sim_region_mark(region, (uintptr_t)memory, bytes, true);
    return memory;
}

bool sim_watch_release(uintptr_t start, uintptr_t pc)
{
    sim_extent gone;
    if (!sim_memory_release(start, pc, &gone))
        return false;
    sim_repeated_changed(start);
    if (!sim_watching || !in_global(start))
        return true;
    // A kernel frees too: what its warp did with the memory so far is judged before, and what the instructions after it
    // remember of the memory is no longer so.
    if (sim_current && sim_current->watch && sim_current->block->clock) {
        sim_merge_lanes(sim_current, UINT32_MAX);
        sim_slots_forget(sim_current);
        sim_ranges_forget(sim_current);
    }
    sim_region_release(&sim_global_region, gone.start, gone.end - gone.start);
    sim_outputs_forget(gone.start, gone.end - gone.start);
    return true;
}

// Its shadow is clear since it was freed.
void sim_watch_retake(uintptr_t start)
{
    if (sim_memory_retake(start))
        sim_repeated_changed(start);
}

bool sim_watch_expose(uintptr_t start, size_t bytes, uintptr_t pc, const char *function)
{
    const bool exposed = sim_memory_expose(start, bytes, pc, function);
    sim_repeated_changed(start);
    return exposed;
}

void sim_watch_discard(uintptr_t start, size_t bytes)
{
    sim_memory_discard(start, bytes);
    if (!sim_watching || !in_global(start))
        return;
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
