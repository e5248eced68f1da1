// Copies and fills that streams make beside running kernels, what calls of libraries use, and memory that is allocated
// and freed in the order of a stream. Each counts as a launch of one thread; it is held against shadow memory only
// where something else may run beside it, because most never meet anything.

#include <stdio.h>

#include "memory/memory.h"
#include "race/clock.h"
#include "race/exact.h"
#include "race/last.h"
#include "race/launches.h"
#include "race/stream_order.h"
#include "race/word.h"
#include "watch/internal.h"

typedef struct copy {
    uint64_t number;
    uintptr_t start[2]; // written, read; 0: host memory
    size_t bytes;
    size_t stride, count; // so many runs of `bytes` bytes, `stride` apart: columns of a matrix
    uintptr_t pc;
    const char *call; // the function of the API or library
    bool library;
    bool gives; // is an allocation: counts as a write of all its bytes
} copy;

// The last copies: older ones have been waited for in every program that is not lost anyway.
enum { KEPT = 256 };
static copy copies[KEPT];
static size_t copy_count;

static const char beside_message[] =
    "the kernel uses memory that %s %s in another stream, and neither waits for the other";

static const char *role_of(const copy *one)
{
    return one->library || one->gives ? "call" : "copy";
}

static const char *does(const copy *one)
{
    return one->gives ? "allocates" : "uses";
}

static bool beside(uint32_t serial, uint64_t number)
{
    const sim_launch_record *other = sim_launches_find(serial);
    return other && other->number < number && !sim_ordered(other->number, number);
}

// Whether an access in the cell may run beside operation `number`; a read matters to a write only.
typedef struct meeting_word {
    uint64_t number;
    bool write;    // of the operation
    uint64_t word; // of the access; 0: none
    bool written;  // by the access
} meeting_word;

// A word that kernels watch through volatile, or test and set, may be how a kernel hears of the copy.
static bool may_signal(const sim_site *site)
{
    if (site->kind == SIM_ATOMIC)
        return !site->discards && (site->what & (SIM_ATOMIC_CONFIRM | SIM_ATOMIC_REPLACE));
    return site->kind == SIM_VOLATILE_READ || site->kind == SIM_VOLATILE_WRITE;
}

static void meet_word(uint64_t word, bool reads, void *context)
{
    meeting_word *met = context;
    if (met->word || !word || (reads && !met->write) || may_signal(&sim_sites[sim_site_of(word)]) ||
        !beside(sim_clock_block_of(sim_stamp_of(word)), met->number))
        return;
    met->word = word;
    met->written = !reads;
}

static meeting_word meets(const sim_cell *cell, uint64_t number, bool write)
{
    meeting_word met = {.number = number, .write = write};
    if (sim_exact_is(cell)) {
        sim_exact_each_word(cell, meet_word, &met);
    } else {
        meet_word(cell->write, false, &met);
        meet_word(cell->read, true, &met);
    }
    return met;
}

static const char *role_of_access(const meeting_word *met)
{
    if (sim_sites[sim_site_of(met->word)].kind == SIM_ATOMIC)
        return "atomic";
    return met->written ? "write" : "read";
}

static void note_overwrite(sim_finding *finding, uint64_t reader, uint64_t writer)
{
    snprintf(finding->note, sizeof finding->note, "%s", sim_order_overwrite_note(reader, writer));
}

// The same words and places as where the kernel comes later: in another order it is the same mistake.
static void report(const copy *one, const meeting_word *met, uintptr_t address)
{
    const sim_launch_record *other = sim_launches_find(sim_clock_block_of(sim_stamp_of(met->word)));
    sim_finding finding = {.kind = SIM_MISSING_WAIT,
                           .tier = SIM_ERROR,
                           .kernel = other ? other->name : NULL,
                           .address = address,
                           .bytes = 1,
                           .place = {{.pc = sim_sites[sim_site_of(met->word)].pc, .role = role_of_access(met)},
                                     {.pc = one->pc, .role = role_of(one)}}};
    snprintf(finding.message, sizeof finding.message, beside_message, one->call, does(one));
    if (other && !one->gives && met->write != met->written)
        note_overwrite(&finding, met->write ? other->number : one->number, met->write ? one->number : other->number);
    sim_report(&finding);
}

static bool in_region(const sim_region *region, uintptr_t address)
{
    return address - region->base < region->span;
}

static bool has_shadow(uintptr_t address)
{
    return in_region(&sim_global_region, address) || in_region(&sim_data_region, address);
}

// False: something was found, which is enough.
static bool hold_run_against_shadow(const copy *one, bool write, uintptr_t start)
{
    const sim_region *region = in_region(&sim_global_region, start) ? &sim_global_region : &sim_data_region;
    for (uintptr_t at = start, end = start + one->bytes; at < end;) {
        sim_page page = sim_page_find(region, at);
        if (!page.cells) {
            at = (at | (SIM_PAGE_BYTES - 1)) + 1;
            continue;
        }
        const meeting_word met = meets(sim_cell_at(page, at), one->number, write);
        if (met.word) {
            report(one, &met, at);
            return false;
        }
        at += (uintptr_t)1 << page.grain;
    }
    return true;
}

static void hold_against_shadow(const copy *one, bool write)
{
    uintptr_t start = one->start[write ? 0 : 1];
    for (size_t run = 0; has_shadow(start) && run < one->count; run++)
        if (!hold_run_against_shadow(one, write, start + run * one->stride))
            return;
}

// The first byte of [address, address + bytes) that one of the runs of a side (0: written, 1: read) has; 0: none.
static uintptr_t touches(const copy *one, int side, uintptr_t address, size_t bytes)
{
    uintptr_t start = one->start[side];
    if (!start || address + bytes <= start)
        return 0;
    size_t run = one->count > 1 && one->stride && address > start ? (address - start) / one->stride : 0;
    for (size_t i = run; i < one->count && i <= run + 1; i++) {
        uintptr_t begin = start + i * one->stride;
        if (address < begin + one->bytes && begin < address + bytes)
            return begin > address ? begin : address;
    }
    return 0;
}

// A byte in which the two meet, in these sides of them; 0: none.
static uintptr_t overlap(const copy *one, int side, const copy *other, int other_side)
{
    uintptr_t start = one->start[side], met = 0;
    size_t all = (one->count - 1) * one->stride + one->bytes;
    if (!start || !touches(other, other_side, start, all))
        return 0;
    for (size_t run = 0; run < one->count && !met; run++)
        met = touches(other, other_side, start + run * one->stride, one->bytes);
    return met;
}

// The first byte that both use and one of them writes; 0: none.
static uintptr_t meeting(const copy *one, const copy *other, sim_finding *finding)
{
    uintptr_t met = overlap(one, 0, other, 0);
    if (met)
        return met;
    if (one->gives || other->gives)
        return one->gives ? overlap(one, 0, other, 1) : overlap(one, 1, other, 0);
    met = overlap(one, 0, other, 1);
    if (met)
        note_overwrite(finding, other->number, one->number);
    else if ((met = overlap(one, 1, other, 0)) != 0)
        note_overwrite(finding, one->number, other->number);
    return met;
}

// Against the copies before it: two that use the same memory, of which one writes there.
static void hold_against_copies(const copy *one)
{
    size_t kept = copy_count < KEPT ? copy_count : KEPT;
    for (size_t i = 0; i < kept; i++) {
        const copy *other = &copies[i];
        if (other->number >= one->number || (one->gives && other->gives) || sim_ordered(other->number, one->number))
            continue;
        sim_finding finding = {
            .kind = SIM_MISSING_WAIT,
            .tier = SIM_ERROR,
            .bytes = 1,
            .place = {{.pc = one->pc, .role = role_of(one)}, {.pc = other->pc, .role = role_of(other)}}};
        finding.address = meeting(one, other, &finding);
        if (!finding.address)
            continue;
        snprintf(finding.message, sizeof finding.message,
                 "%s and %s use the same memory in streams that do not wait for each other", other->call, one->call);
        sim_report(&finding);
    }
}

// Where all that came before is ordered there is nothing to meet, and a copy may be long; what comes later may meet it.
static void hold(const copy *one, bool changes)
{
    for (int side = 0; side < 2; side++)
        if (has_shadow(one->start[side]) && !one->gives)
            sim_repeated_use(one->start[side], side == 0 && changes, !one->library && !one->start[1], one->number);
    copy *kept = &copies[copy_count++ % KEPT];
    *kept = *one;
    if (sim_ordered_below(one->number) >= one->number)
        return;
    hold_against_shadow(kept, true);
    hold_against_shadow(kept, false);
    hold_against_copies(kept);
}

// Registered memory has no shadow, but copies and the host may meet in it.
static bool is_followed(uintptr_t address)
{
    return has_shadow(address) || sim_memory_is_registered(address);
}

void sim_watch_copy(uint64_t number, uintptr_t to, uintptr_t from, size_t bytes, bool changes, const char *call,
                    uintptr_t pc)
{
    if (!sim_watch_ready() || bytes == 0)
        return;
    copy one = {.number = number,
                .start = {is_followed(to) ? to : 0, is_followed(from) ? from : 0},
                .bytes = bytes,
                .count = 1,
                .pc = pc,
                .call = call};
    hold(&one, changes);
}

void sim_watch_library(uintptr_t start, size_t bytes, size_t stride, size_t count, bool write)
{
    if (!sim_watch_ready() || bytes == 0 || count == 0 || !in_region(&sim_global_region, start))
        return;
    const sim_launch_state *launch = sim_current->launch;
    copy one = {.number = launch->number,
                .start = {write ? start : 0, write ? 0 : start},
                .bytes = bytes,
                .stride = stride,
                .count = count,
                .pc = launch->launched_at,
                .call = launch->kernel->name,
                .library = true};
    if (!write)
        sim_inputs_add(one.number, start, bytes, stride, count);
    hold(&one, write);
}

void sim_watch_given(uint64_t number, uintptr_t start, size_t bytes, const char *call, uintptr_t pc)
{
    if (!sim_watch_ready() || !in_region(&sim_global_region, start))
        return;
    const copy one = {
        .number = number, .start = {start, 0}, .bytes = bytes, .count = 1, .pc = pc, .call = call, .gives = true};
    hold(&one, false);
}

// used_by: what uses it, where that is no kernel.
static void report_free(uintptr_t pc, uintptr_t address, sim_place used, const char *kernel, const char *used_by)
{
    sim_finding finding = {.kind = SIM_USE_AFTER_FREE,
                           .tier = SIM_ERROR,
                           .kernel = kernel,
                           .address = address,
                           .bytes = 1,
                           .place = {used, {.pc = pc, .role = "freed"}}};
    snprintf(finding.message, sizeof finding.message,
             "a stream frees memory that %s in another stream, and does not wait for it",
             kernel ? "the kernel uses" : used_by);
    sim_report(&finding);
}

void sim_watch_free(uint64_t number, uintptr_t start, size_t bytes, uintptr_t pc)
{
    if (!sim_watch_ready() || !in_region(&sim_global_region, start) || sim_ordered_below(number) >= number)
        return;
    for (uintptr_t at = start; at < start + bytes;) {
        sim_page page = sim_page_find(&sim_global_region, at);
        if (!page.cells) {
            at = (at | (SIM_PAGE_BYTES - 1)) + 1;
            continue;
        }
        const meeting_word met = meets(sim_cell_at(page, at), number, true);
        if (met.word) {
            const sim_launch_record *user = sim_launches_find(sim_clock_block_of(sim_stamp_of(met.word)));
            const sim_place used = {.pc = sim_sites[sim_site_of(met.word)].pc, .role = role_of_access(&met)};
            report_free(pc, at, used, user->name, NULL);
            return;
        }
        at += (uintptr_t)1 << page.grain;
    }
    const copy *given = NULL; // told of only if nothing uses the memory: whoever frees too early frees after that, too
    bool told = false;
    size_t kept = copy_count < KEPT ? copy_count : KEPT;
    for (size_t i = 0; i < kept; i++) {
        const copy *one = &copies[i];
        if (one->number >= number || sim_ordered(one->number, number) ||
            (!touches(one, 0, start, bytes) && !touches(one, 1, start, bytes)))
            continue;
        if (one->gives)
            given = one;
        else
            report_free(pc, start, (sim_place){.pc = one->pc, .role = role_of(one)}, NULL, "a copy or call uses");
        told |= !one->gives;
    }
    if (given && !told)
        report_free(pc, start, (sim_place){.pc = given->pc, .role = role_of(given)}, NULL, "a call allocates");
}

uintptr_t sim_watch_copy_unwaited(uintptr_t address, size_t bytes, bool write)
{
    size_t kept = copy_count < KEPT ? copy_count : KEPT;
    for (size_t i = 0; i < kept; i++) {
        const copy *one = &copies[i];
        if (!one->library && !one->gives &&
            (touches(one, 0, address, bytes) || (write && touches(one, 1, address, bytes))) &&
            !sim_order_waited(one->number))
            return one->pc;
    }
    return 0;
}

// Those that the launch has not waited for.
static const copy *beside_launch[KEPT];
static size_t beside_count;

void sim_copies_launch_begin(uint64_t number)
{
    beside_count = 0;
    size_t kept = copy_count < KEPT ? copy_count : KEPT;
    for (size_t i = 0; i < kept; i++)
        if (copies[i].number < number && !sim_ordered(copies[i].number, number))
            beside_launch[beside_count++] = &copies[i];
}

static void report_met(sim_worker *worker, const copy *one, uintptr_t address, unsigned bytes, bool write, uintptr_t pc)
{
    sim_finding finding = sim_finding_of(worker, SIM_MISSING_WAIT, SIM_ERROR);
    finding.address = address;
    finding.bytes = bytes;
    finding.place[0] = sim_place_of(worker, worker->thread, pc, write ? "write" : "read");
    finding.place[1] = (sim_place){.pc = one->pc, .role = role_of(one)};
    snprintf(finding.message, sizeof finding.message, beside_message, one->call, does(one));
    if (!write && !one->gives)
        note_overwrite(&finding, worker->launch->number, one->number);
    else if (!touches(one, 0, address, bytes))
        note_overwrite(&finding, one->number, worker->launch->number);
    sim_report(&finding);
}

bool sim_copies_meet(sim_worker *worker, uintptr_t address, unsigned bytes, bool write, uintptr_t pc, sim_extent *alone)
{
    bool near = false;
    for (size_t i = 0; i < beside_count; i++) {
        const copy *one = beside_launch[i];
        if (one->number >= worker->launch->number) // a later one has taken its place
            continue;
        for (int side = 0; side < (write ? 2 : 1); side++) {
            const uintptr_t start = one->start[side], end = start + (one->count - 1) * one->stride + one->bytes;
            if (!start || end <= alone->start || start >= alone->end)
                continue;
            if (end <= address) {
                alone->start = end;
            } else if (start >= address + bytes) {
                alone->end = start;
            } else if (touches(one, side, address, bytes)) {
                report_met(worker, one, address, bytes, write, pc);
                return true;
            } else {
                near = true; // between the columns of a matrix
            }
        }
    }
    return near;
}
