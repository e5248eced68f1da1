// Filling and forgetting ranges.

#include "watch/ranges.h"

#include "machine/options.h"
#include "memory/memory.h"
#include "memory/reserve.h"
#include "memory/sections.h"
#include "program/program.h"
#include "watch/internal.h"

enum { MOST_RANGES = 1 << 16 }; // more are looked up each time

static __thread bool runs_blocks;       // this OS thread is a worker's
static __thread sim_worker *plays_host; // and that worker's CUDA thread does what is the host's

bool sim_ranges_start(sim_ranges *ranges)
{
    runs_blocks = true;
    ranges->used = sim_reserve(MOST_RANGES * sizeof(sim_range *));
    return ranges->used != NULL;
}

void sim_ranges_forget(sim_worker *worker)
{
    sim_ranges *ranges = &worker->watch->ranges;
    for (size_t i = 0; i < ranges->count; i++)
        *ranges->used[i] = (sim_range){0};
    ranges->count = 0;
}

static bool is_open(const sim_block *block)
{
    return block->unwatched && !block->logged;
}

void sim_ranges_enter(sim_worker *worker)
{
    sim_ranges *ranges = &worker->watch->ranges;
    plays_host = NULL; // a fault may have ended the thread that did
    if (ranges->open == is_open(worker->block))
        return;
    sim_ranges_forget(worker);
    ranges->open = is_open(worker->block);
}

bool sim_watch_log_all(sim_worker *worker)
{
    if (!worker->watch || !is_open(worker->block))
        return false;
    worker->block->logged = true;
    sim_ranges_enter(worker);
    return true;
}

static sim_range range_of(uintptr_t start, size_t size, unsigned bytes)
{
    const size_t below = -start & (bytes - 1); // no access starts there
    return (sim_range){.lo = start + below, .good = below < size ? (size - below) / bytes : 0};
}

// Of a write to global memory the hook keeps that the memory is initialised.
static bool passes(const sim_slot *slot)
{
    return sim_sites[slot->tag >> SIM_ENTRY_SHIFT].kind == SIM_READ || slot->lo - sim_memory_base >= sim_memory_span;
}

// Of a constant of the program, which nobody changes.
static sim_range constant(uintptr_t address, unsigned bytes)
{
    const sim_module *module = sim_module_self();
    uintptr_t start;
    size_t size;
    sim_range range = {0};
    if (address - module->image_lo >= module->image_hi - module->image_lo ||
        address - module->data_lo < module->data_hi - module->data_lo ||
        sim_symbol_fixed(address, &start, &size) != SIM_FIXED_VARIABLE)
        return range;
    range = range_of(start, size, bytes);
    range.open = range.good;
    range.good = 0;
    return range;
}

// Local memory is its thread's alone: no hook needs to hear of it, nor of constants. Of other memory, the table of
// slots has what was found.
static sim_range found(const sim_worker *worker, uintptr_t address, unsigned bytes, uintptr_t pc)
{
    const sim_slot *slot = &worker->slots[sim_slot_of(pc)];
    sim_range range = {0};
    if (address - worker->stacks_lo < worker->stacks_hi - worker->stacks_lo) {
        range = range_of(worker->stacks_lo, worker->stacks_hi - worker->stacks_lo, bytes);
        range.open = range.good;
        range.good = 0;
    } else if (slot->pc == pc && slot->span > 0) {
        range = range_of(slot->lo, slot->span + bytes - 1, bytes);
        const bool open = worker->watch->ranges.open;
        range.tag = open ? 0 : slot->tag;
        range.open = open && passes(slot) ? range.good : 0;
    } else {
        range = constant(address, bytes);
    }
    return range;
}

void sim_ranges_keep(sim_worker *worker, sim_range *range, uintptr_t address, unsigned bytes, uintptr_t pc)
{
    sim_ranges *ranges = &worker->watch->ranges;
    const sim_range now = found(worker, address, bytes, pc);
    const bool known = range->good + range->open > 0;
    if (now.good + now.open == 0 || (!known && ranges->count == MOST_RANGES))
        return;
    if (!known)
        ranges->used[ranges->count++] = range;
    *range = now;
}

// What of [lo, hi) around `address` lies on its side of [from, to).
static void cut(uintptr_t *lo, uintptr_t *hi, uintptr_t address, uintptr_t from, uintptr_t to)
{
    if (from == to)
        return;
    if (address >= to && to > *lo)
        *lo = to;
    else if (address < from && from < *hi)
        *hi = from;
}

void sim_watch_plays_host(sim_worker *worker, bool begins)
{
    if (!worker->watch)
        return;
    if (!begins)
        sim_ranges_forget(worker);
    plays_host = begins ? worker : NULL;
}

// Host memory may be registered with the card later: what this thread has kept until then is forgotten.
static __thread sim_range **kept;
static __thread size_t kept_count;

static bool note_kept(sim_range *range)
{
    if (!(sim_program_uses & SIM_USES_REGISTERED) || range->good + range->open > 0)
        return true;
    if (!kept)
        kept = sim_reserve(MOST_RANGES * sizeof *kept);
    if (!kept || kept_count == MOST_RANGES)
        return false;
    kept[kept_count++] = range;
    return true;
}

void sim_watch_registered(void)
{
    for (size_t i = 0; i < kept_count; i++)
        *kept[i] = (sim_range){0};
    kept_count = 0;
}

// Where a kernel's thread plays the host, all is forgotten when it stops to.
static bool may_keep_host(sim_range *range)
{
    if (!runs_blocks)
        return note_kept(range);
    sim_ranges *ranges = plays_host ? &plays_host->watch->ranges : NULL;
    const bool known = range->good + range->open > 0;
    if (!ranges || (!known && ranges->count == MOST_RANGES))
        return false;
    if (!known)
        ranges->used[ranges->count++] = range;
    return true;
}

typedef struct stretch {
    uintptr_t lo, hi, address;
} stretch;

static void cut_registered(const sim_allocation *registered, void *context)
{
    stretch *around = context;
    cut(&around->lo, &around->hi, around->address, registered->start, registered->start + registered->bytes);
}

void sim_ranges_keep_host(sim_range *range, uintptr_t address, unsigned bytes)
{
    const sim_extent zone = sim_memory_zone();
    uintptr_t lo = 0, hi = UINTPTR_MAX;
    if (address - zone.start < zone.end - zone.start || !may_keep_host(range))
        return;
    cut(&lo, &hi, address, zone.start, zone.end);
    cut(&lo, &hi, address, (uintptr_t)__start_sim_device, (uintptr_t)__stop_sim_device);
    cut(&lo, &hi, address, (uintptr_t)__start_sim_constant, (uintptr_t)__stop_sim_constant);
    cut(&lo, &hi, address, (uintptr_t)__start_sim_managed, (uintptr_t)__stop_sim_managed);
    stretch around = {lo, hi, address};
    sim_memory_registered_each(cut_registered, &around);
    *range = range_of(around.lo, around.hi - around.lo, bytes);
    range->open = range->good;
    range->good = 0; // not for kernels
}
