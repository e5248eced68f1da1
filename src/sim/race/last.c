// Which launches used a byte last. Calls of libraries make no accesses that the hooks see: what they have read and
// written is kept by itself.

#include "race/last.h"

#include "race/clock.h"
#include "race/exact.h"
#include "race/launches.h"
#include "race/site.h"
#include "race/view.h"
#include "race/word.h"

// Columns of a matrix, or a vector: `count` runs of `bytes` bytes, `stride` bytes apart.
typedef struct span {
    uint64_t number;
    uintptr_t start;
    size_t bytes, stride, count;
} span;

// The last ones: older ones have been waited for as a rule. Calls run one at a time.
enum { SPANS = 256 };
typedef struct spans {
    span kept[SPANS];
    size_t count;
} spans;
static spans outputs, inputs;

static bool goes_on(const span *last, uint64_t number, uintptr_t start, size_t bytes)
{
    return last->number == number && last->bytes == bytes && start > last->start &&
           (last->count == 1 || start - last->start == last->count * last->stride);
}

void sim_outputs_add(uint64_t number, uintptr_t start, size_t bytes)
{
    span *last = outputs.count > 0 ? &outputs.kept[(outputs.count - 1) % SPANS] : NULL;
    if (last && goes_on(last, number, start, bytes)) {
        if (last->count++ == 1)
            last->stride = start - last->start;
        return;
    }
    outputs.kept[outputs.count++ % SPANS] = (span){number, start, bytes, 0, 1};
}

void sim_inputs_add(uint64_t number, uintptr_t start, size_t bytes, size_t stride, size_t count)
{
    inputs.kept[inputs.count++ % SPANS] = (span){number, start, bytes, count > 1 ? stride : 0, count};
}

static void forget(spans *list, uintptr_t start, size_t bytes)
{
    for (size_t i = 0; i < SPANS && i < list->count; i++)
        if (list->kept[i].start - start < bytes)
            list->kept[i].count = 0;
}

void sim_outputs_forget(uintptr_t start, size_t bytes)
{
    forget(&outputs, start, bytes);
    forget(&inputs, start, bytes);
}

static uint64_t last_of(const spans *list, uintptr_t address)
{
    uint64_t number = 0;
    for (size_t i = 0; i < SPANS && i < list->count; i++) {
        const span *one = &list->kept[i];
        size_t offset = address - one->start, run = one->stride ? offset / one->stride : 0;
        bool here = address >= one->start && run < one->count && offset - run * one->stride < one->bytes;
        if (here && one->number > number)
            number = one->number;
    }
    return number;
}

static uint64_t number_of(uint32_t stamp)
{
    const sim_launch_record *launch = stamp ? sim_launches_find(sim_clock_block_of(stamp)) : NULL;
    return launch ? launch->number : 0;
}

const sim_cell *sim_cell_of(uintptr_t address)
{
    const sim_region *region =
        address - sim_data_region.base < sim_data_region.span ? &sim_data_region : &sim_global_region;
    if (address - region->base >= region->span)
        return NULL;
    sim_page page = sim_page_find(region, address);
    return page.cells ? sim_cell_at(page, address) : NULL;
}

// Whether a kernel waits for what others write there: an atomic that tests and sets, or a volatile look at a word that
// it writes so too. One that counts does not, though its result is used.
static bool looks(const sim_earlier *write, const sim_earlier *read)
{
    const sim_site *about = &sim_sites[write->site];
    if (write->kind == SIM_VOLATILE_WRITE)
        return read->kind == SIM_VOLATILE_READ;
    return write->kind == SIM_ATOMIC && !about->discards && (about->what & (SIM_ATOMIC_CONFIRM | SIM_ATOMIC_REPLACE));
}

sim_last sim_last_uses(uintptr_t address)
{
    sim_last last = {0};
    const sim_cell *cell = sim_cell_of(address);
    if (cell && sim_exact_is(cell)) {
        sim_earlier write = {0}, read = {0};
        sim_exact_last_write(cell, &write);
        sim_exact_last_read(cell, &read);
        last.writer = number_of(write.stamp);
        last.reader = read.kind != SIM_VOLATILE_READ ? number_of(read.stamp) : 0;
        last.flag = true;
        last.looks = looks(&write, &read);
        last.asks = write.kind == SIM_ATOMIC && !sim_sites[write.site].discards;
    } else if (cell) {
        last.writer = number_of(sim_stamp_of(cell->write));
        last.reader = number_of(sim_stamp_of(cell->read));
    }
    const uint64_t written = last_of(&outputs, address), read = last_of(&inputs, address);
    if (written > last.writer)
        last = (sim_last){.writer = written, .reader = last.reader};
    if (read > last.reader) {
        last.reader = read;
        last.flag &= last.writer > read;
    }
    return last;
}

typedef struct signals {
    void (*visit)(uint64_t number, void *context);
    void *context;
} signals;

static void tell_signal(const sim_earlier *one, void *context)
{
    const signals *asked = context;
    const bool atomic = one->kind == SIM_ATOMIC && (sim_sites[one->site].what & SIM_ATOMIC_STORE);
    const uint64_t number = atomic || one->kind == SIM_VOLATILE_WRITE ? number_of(one->stamp) : 0;
    if (number != 0)
        asked->visit(number, asked->context);
}

void sim_signals_at(uintptr_t address, void (*visit)(uint64_t number, void *context), void *context)
{
    const sim_cell *cell = sim_cell_of(address);
    signals asked = {visit, context};
    if (cell && sim_exact_is(cell))
        sim_exact_each(cell, tell_signal, &asked);
}

bool sim_last_write(uintptr_t address, sim_place *place, const char **kernel)
{
    const sim_cell *cell = sim_cell_of(address);
    sim_earlier last = {.site = 0};
    if (cell && sim_exact_is(cell))
        sim_exact_last_write(cell, &last);
    else if (cell && cell->write)
        last = (sim_earlier){.stamp = sim_stamp_of(cell->write),
                             .thread = sim_thread_of(cell->write),
                             .site = sim_site_of(cell->write),
                             .kind = SIM_WRITE};
    const sim_launch_record *launch = last.site ? sim_launches_find(sim_clock_block_of(last.stamp)) : NULL;
    if (!launch)
        return false;
    *place = sim_race_place(&last);
    *kernel = launch->name;
    return true;
}

void sim_writer(const void *address, int place[6])
{
    sim_place last = {.has_thread = false};
    const char *kernel;
    const uint64_t number = sim_last_uses((uintptr_t)address).writer;
    const bool known = sim_last_write((uintptr_t)address, &last, &kernel) && last.has_thread;
    for (int i = 0; i < 3; i++) {
        place[i] = known ? (int)last.block[i] : number != 0 ? -1 : -2;
        place[3 + i] = known ? (int)last.thread[i] : place[i];
    }
}

bool sim_variable_used(uintptr_t start, size_t bytes, bool written)
{
    const sim_region *region = &sim_data_region;
    for (uintptr_t at = start; at < start + bytes && at - region->base < region->span; at++) {
        sim_page page = sim_page_find(region, at);
        const sim_cell *cell = page.cells ? sim_cell_at(page, at) : NULL;
        if (cell && (sim_exact_is(cell) || cell->write || (cell->read && !written)))
            return true;
    }
    return false;
}
