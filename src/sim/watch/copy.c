// Copies and fills that streams make beside running kernels. Each counts as a launch of one thread; it is held against
// shadow memory only where something else may run beside it, because most never meet anything.

#include <stdio.h>

#include "memory/memory.h"
#include "race/clock.h"
#include "race/exact.h"
#include "race/launches.h"
#include "report/report.h"
#include "watch/internal.h"

__attribute__((weak)) bool sim_api_ordered(uint64_t earlier, uint64_t later);

typedef struct copy {
    uint64_t number;
    uintptr_t start[2]; // written, read; 0: host memory
    size_t bytes;
    uintptr_t pc;
} copy;

// The last copies: older ones have been waited for in every program that is not lost anyway.
enum { KEPT = 256 };
static copy copies[KEPT];
static size_t copy_count;

static void report(uintptr_t pc, const char *role, uint32_t serial, uintptr_t address, unsigned site)
{
    const sim_launch_record *other = sim_launches_find(serial);
    sim_finding finding = {.kind = SIM_MISSING_WAIT,
                           .tier = SIM_ERROR,
                           .address = address,
                           .bytes = 1,
                           .place = {{.pc = pc, .role = role}, {.pc = sim_sites[site].pc, .role = "kernel's access"}}};
    snprintf(finding.message, sizeof finding.message,
             "a stream copies or fills memory that %s%s uses in another stream, and neither waits for the other",
             other ? "kernel " : "other work", other && other->name ? other->name : "");
    sim_report(&finding);
}

static bool beside(uint32_t serial, uint64_t number)
{
    const sim_launch_record *other = sim_launches_find(serial);
    return other && other->number < number && sim_api_ordered && !sim_api_ordered(other->number, number);
}

// Whether an access in the cell may run beside operation `number`; a read matters to a write only.
static bool meets(const sim_cell *cell, uint64_t number, bool write, uint64_t *word)
{
    if (sim_exact_is(cell))
        return false;
    if (cell->write && beside(sim_clock_block_of(sim_stamp_of(cell->write)), number)) {
        *word = cell->write;
        return true;
    }
    *word = cell->read;
    return write && cell->read && beside(sim_clock_block_of(sim_stamp_of(cell->read)), number);
}

static void hold_against_shadow(const copy *one, bool write)
{
    uintptr_t start = one->start[write ? 0 : 1], end = start + one->bytes;
    for (uintptr_t at = start; start && at < end;) {
        sim_page page = sim_page_find(&sim_global_region, at);
        if (!page.cells) {
            at = (at | (SIM_PAGE_BYTES - 1)) + 1;
            continue;
        }
        uint64_t word;
        if (meets(sim_cell_at(page, at), one->number, write, &word)) {
            report(one->pc, write ? "write" : "read", sim_clock_block_of(sim_stamp_of(word)), at, sim_site_of(word));
            return;
        }
        at += (uintptr_t)1 << page.grain;
    }
}

static bool in_global(uintptr_t address)
{
    return address - sim_global_region.base < sim_global_region.span;
}

static bool overlap(uintptr_t one, size_t one_bytes, uintptr_t other, size_t other_bytes)
{
    return one && other && one < other + other_bytes && other < one + one_bytes;
}

// Against the copies before it: two that use the same memory, of which one writes there.
static void hold_against_copies(const copy *one)
{
    size_t kept = copy_count < KEPT ? copy_count : KEPT;
    for (size_t i = 0; sim_api_ordered && i < kept; i++) {
        const copy *other = &copies[i];
        bool meet = overlap(one->start[0], one->bytes, other->start[0], other->bytes) ||
                    overlap(one->start[0], one->bytes, other->start[1], other->bytes) ||
                    overlap(one->start[1], one->bytes, other->start[0], other->bytes);
        if (!meet || other->number >= one->number || sim_api_ordered(other->number, one->number))
            continue;
        sim_finding finding = {.kind = SIM_MISSING_WAIT,
                               .tier = SIM_ERROR,
                               .address = one->start[0] ? one->start[0] : one->start[1],
                               .bytes = one->bytes,
                               .place = {{.pc = one->pc, .role = "copy"}, {.pc = other->pc, .role = "copy"}}};
        snprintf(finding.message, sizeof finding.message,
                 "two copies or fills use the same memory in streams that do not wait for each other");
        sim_report(&finding);
    }
}

void sim_watch_copy(uint64_t number, uintptr_t to, uintptr_t from, size_t bytes, uintptr_t pc)
{
    if (!sim_watch_ready() || bytes == 0)
        return;
    copy *one = &copies[copy_count++ % KEPT];
    *one = (copy){number, {in_global(to) ? to : 0, in_global(from) ? from : 0}, bytes, pc};
    hold_against_shadow(one, true);
    hold_against_shadow(one, false);
    hold_against_copies(one);
}

static bool unordered;

void sim_copies_launch_begin(uint64_t number)
{
    unordered = false;
    size_t kept = copy_count < KEPT ? copy_count : KEPT;
    for (size_t i = 0; sim_api_ordered && i < kept; i++)
        unordered |= copies[i].number < number && !sim_api_ordered(copies[i].number, number);
}

// The copy beside launch `number` that these bytes are part of; *wrote: they are its target.
static const copy *find(uint64_t number, uintptr_t address, size_t bytes, bool write)
{
    size_t kept = copy_count < KEPT ? copy_count : KEPT;
    for (size_t i = 0; i < kept; i++) {
        const copy *one = &copies[i];
        bool target = one->start[0] && address < one->start[0] + one->bytes && one->start[0] < address + bytes;
        bool source = one->start[1] && address < one->start[1] + one->bytes && one->start[1] < address + bytes;
        if ((target || (source && write)) && one->number < number && !sim_api_ordered(one->number, number))
            return one;
    }
    return NULL;
}

bool sim_copies_meet(sim_worker *worker, uintptr_t address, unsigned bytes, bool write, uintptr_t pc, uintptr_t start,
                     size_t size)
{
    if (!unordered || !find(worker->launch->number, start, size, true))
        return false;
    const copy *one = find(worker->launch->number, address, bytes, write);
    if (!one)
        return true;
    sim_finding finding = {.kind = SIM_MISSING_WAIT,
                           .tier = SIM_ERROR,
                           .kernel = worker->launch->kernel->name,
                           .address = address,
                           .bytes = bytes,
                           .place = {{.pc = pc, .role = write ? "write" : "read"}, {.pc = one->pc, .role = "copy"}}};
    snprintf(finding.message, sizeof finding.message,
             "the kernel uses memory that another stream copies or fills, and neither waits for the other");
    sim_place_thread(worker, worker->thread, &finding.place[0]);
    sim_report(&finding);
    return true;
}
