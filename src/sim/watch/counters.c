// Counts what each row costs: in global memory the 32-byte sectors it touches, in shared memory the wavefronts its bank
// conflicts need. Counted on each worker, collected by kernel and place when a launch ends.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "race/word.h"
#include "watch/internal.h"

enum { SECTOR_SHIFT = 5, SECTOR = 1 << SECTOR_SHIFT, BANKS = 32, BANK_SHIFT = 2, LINE = 128 };

static int space_of(const sim_worker *worker, uintptr_t address)
{
    if (address - sim_global_region.base < sim_global_region.span)
        return SIM_SPACE_GLOBAL;
    return address - worker->thread_local_lo < worker->thread_local_hi - worker->thread_local_lo ? SIM_SPACE_SHARED
                                                                                                 : SIM_SPACE_VARIABLE;
}

static sim_counter *counter_of(sim_worker *worker, unsigned site, int space)
{
    struct sim_watch *watch = worker->watch;
    uint32_t index = site * SIM_SPACES + (unsigned)space;
    sim_counter *counter = &watch->counters[index];
    if (counter->requests == 0)
        watch->touched[watch->touched_count++] = index;
    return counter;
}

// Lanes served by one wavefront if no two of them want different words of one bank.
static int lanes_at_once(unsigned bytes)
{
    return bytes <= 4 ? SIM_LANES : (int)(SIM_LANES * 4 / bytes);
}

// The row's runs by address.
static int sort_runs(const sim_row *row, const sim_stretch *sorted[SIM_LANES])
{
    for (int i = 0; i < row->runs; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1]->address > row->run[i].address; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = &row->run[i];
    }
    return row->runs;
}

// The 32-byte sectors that a row touches, and those that its bytes would fill if they lay side by side.
static uint32_t count_sectors(const sim_row *row, unsigned bytes, uint32_t *ideal)
{
    if (row->step != 0) {
        // No two lanes overlap. Steps below a sector leave none out; larger ones take one for each lane.
        const uintptr_t first = row->run[row->step > 0 ? 0 : SIM_LANES - 1].address;
        const uintptr_t last = row->run[row->step > 0 ? SIM_LANES - 1 : 0].address + bytes - 1;
        const uintptr_t step = row->step > 0 ? (uintptr_t)row->step : -(uintptr_t)row->step;
        *ideal = bytes * SIM_LANES / SECTOR;
        if (step >= bytes)
            return step >= SECTOR ? SIM_LANES : (uint32_t)((last >> SECTOR_SHIFT) - (first >> SECTOR_SHIFT) + 1);
    }
    const sim_stretch *sorted[SIM_LANES];
    int runs = sort_runs(row, sorted);
    uint32_t sectors = 0;
    uintptr_t next_sector = 0, next_byte = 0;
    size_t distinct = 0;
    for (int i = 0; i < runs; i++) {
        uintptr_t begin = sorted[i]->address, end = begin + sim_stretch_span(sorted[i], bytes);
        uintptr_t first = begin >> SECTOR_SHIFT, last = (end - 1) >> SECTOR_SHIFT;
        first = first < next_sector ? next_sector : first;
        if (last >= first) {
            sectors += (uint32_t)(last - first + 1);
            next_sector = last + 1;
        }
        begin = begin < next_byte ? next_byte : begin;
        if (end > begin) {
            distinct += end - begin;
            next_byte = end;
        }
    }
    *ideal = (uint32_t)((distinct + SECTOR - 1) / SECTOR);
    return sectors;
}

// Whether no bank has to give two different words. Looks at no more than where each run begins and how long it is.
static bool has_no_conflict(const sim_row *row, unsigned bytes)
{
    uint32_t busy = 0;
    for (int i = 0; i < row->runs; i++) {
        const sim_stretch *run = &row->run[i];
        const unsigned words = run->stride ? (unsigned)run->lanes : 1, bank = (run->address >> BANK_SHIFT) % BANKS;
        const uint32_t low = words == BANKS ? UINT32_MAX : (1u << words) - 1;
        const uint32_t banks = low << bank | (bank ? low >> (BANKS - bank) : 0);
        bool again = false; // the words of a run before
        for (int k = 0; k < i && !again; k++)
            again = row->run[k].address == run->address && row->run[k].lanes == run->lanes &&
                    row->run[k].stride == run->stride;
        if (bytes != 1u << BANK_SHIFT || (!again && (busy & banks)))
            return false;
        busy |= banks;
    }
    return true;
}

// The words of one group of lanes, bank by bank; how many different words the busiest bank has to give.
static uint32_t count_group(const sim_row *row, unsigned bytes, int first, int lanes)
{
    uintptr_t word[BANKS][SIM_LANES];
    uint8_t words[BANKS] = {0}, most = 0;
    for (int i = 0; i < row->runs; i++) {
        const sim_stretch *run = &row->run[i];
        int begin = run->first > first ? run->first : first;
        int end = run->first + run->lanes < first + lanes ? run->first + run->lanes : first + lanes;
        if (begin >= end)
            continue;
        uintptr_t low = run->address + (uintptr_t)(begin - run->first) * run->stride;
        uintptr_t high = run->address + (uintptr_t)(end - 1 - run->first) * run->stride + bytes - 1;
        for (uintptr_t one = low >> BANK_SHIFT; one <= high >> BANK_SHIFT; one++) {
            unsigned bank = one % BANKS;
            unsigned known = words[bank];
            while (known > 0 && word[bank][known - 1] != one)
                known--;
            if (known == 0)
                word[bank][words[bank]++] = one;
            most = words[bank] > most ? words[bank] : most;
        }
    }
    return most;
}

static uint32_t count_wavefronts(const sim_row *row, unsigned bytes, uint32_t *ideal)
{
    int group = lanes_at_once(bytes);
    if (row->runs == 1 && (row->run[0].stride == 0 || row->run[0].stride == bytes) && group == SIM_LANES) {
        *ideal = 1;
        return 1;
    }
    if (row->runs == 2 && has_no_conflict(row, bytes)) {
        *ideal = 1;
        return 1;
    }
    if (row->step != 0 && bytes == 1u << BANK_SHIFT) {
        // Lanes meet in a bank as often as the step, in words, has factors in common with the number of banks.
        const uintptr_t words = (uintptr_t)row->step >> BANK_SHIFT, common = words & -words;
        *ideal = 1;
        return common < BANKS ? (uint32_t)common : BANKS;
    }
    uint32_t wavefronts = 0, lanes = group == SIM_LANES ? UINT32_MAX : (1u << group) - 1;
    *ideal = 0;
    for (int first = 0; first < SIM_LANES; first += group) {
        wavefronts += count_group(row, bytes, first, group);
        *ideal += (row->mask >> first & lanes) != 0;
    }
    return wavefronts;
}

static void keep_worst(sim_worker *worker, sim_counter *counter, const sim_row *row, uint32_t units)
{
    counter->worst_units = units;
    counter->worst_mask = row->mask;
    uintptr_t lowest = UINTPTR_MAX;
    for (int i = 0; i < row->runs; i++)
        lowest = row->run[i].address < lowest ? row->run[i].address : lowest;
    memset(counter->worst_offset, 0, sizeof counter->worst_offset);
    for (int i = 0; i < row->runs; i++)
        for (int lane = 0; lane < row->run[i].lanes; lane++)
            counter->worst_offset[row->run[i].first + lane] =
                (uint32_t)(row->run[i].address + (uintptr_t)lane * row->run[i].stride - lowest);
    counter->worst_lowest = (uint32_t)(lowest % LINE);
    memcpy(counter->worst_block, worker->block->index, sizeof counter->worst_block);
    counter->worst_warp = (unsigned)worker->warp;
}

void sim_counters_row(sim_worker *worker, const sim_row *row)
{
    const sim_site *about = &sim_sites[row->site];
    if (about->copy == SIM_COPY_ISSUED || about->copy == SIM_COPY_SOURCE) {
        worker->watch->accesses -= (unsigned)__builtin_popcount(row->mask); // there for races alone
        return;
    }
    unsigned bytes = about->bytes;
    int space = space_of(worker, row->run[0].address);
    sim_counter *counter = counter_of(worker, row->site, space);
    uint32_t ideal;
    uint32_t units =
        space == SIM_SPACE_SHARED ? count_wavefronts(row, bytes, &ideal) : count_sectors(row, bytes, &ideal);
    counter->requests++;
    counter->lanes += (unsigned)__builtin_popcount(row->mask);
    counter->units += units;
    counter->ideal += ideal;
    if (units > counter->worst_units)
        keep_worst(worker, counter, row, units);
}

static _Atomic uint64_t algorithms;

void sim_counters_algorithm(void)
{
    algorithms++;
}

uint64_t sim_counters_algorithms(void)
{
    return algorithms;
}

// --- collected over launches ----------------------------------------------------------------------------------------

typedef struct total {
    sim_count count;
    struct total *next;
} total;

typedef struct kernel_total {
    sim_kernel_count count;
    total *totals;
    struct kernel_total *next;
} kernel_total;

static kernel_total *kernels;
static pthread_mutex_t collecting = PTHREAD_MUTEX_INITIALIZER;

static kernel_total *kernel_of(const sim_launch_state *launch)
{
    kernel_total **at = &kernels;
    for (; *at; at = &(*at)->next)
        if (strcmp((*at)->count.kernel, launch->kernel->name) == 0)
            return *at;
    kernel_total *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    const sim_dim *grid = &launch->config.grid, *block = &launch->config.block;
    made->count = (sim_kernel_count){.kernel = launch->kernel->name,
                                     .grid = {grid->x, grid->y, grid->z},
                                     .block = {block->x, block->y, block->z},
                                     .shared = launch->config.shared};
    *at = made;
    return made;
}

static sim_count *total_of(kernel_total *kernel, unsigned site, uint8_t space)
{
    static const uint8_t count_kind[] = {0, 1, 2, 0, 1}; // of SIM_READ ... SIM_VOLATILE_WRITE
    const sim_site *about = &sim_sites[site];
    total **at = &kernel->totals;
    for (; *at; at = &(*at)->next)
        if ((*at)->count.pc == about->pc && (*at)->count.space == space)
            return &(*at)->count;
    total *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->count = (sim_count){.pc = about->pc,
                              .kernel = kernel->count.kernel,
                              .space = space,
                              .kind = count_kind[about->kind],
                              .size = about->bytes};
    *at = made;
    return &made->count;
}

static void add(sim_count *to, const sim_counter *from)
{
    to->requests += from->requests;
    to->lanes += from->lanes;
    to->units += from->units;
    to->ideal += from->ideal;
    if (from->worst_units <= to->worst_units)
        return;
    to->worst_units = from->worst_units;
    to->worst_mask = from->worst_mask;
    to->worst_lowest = from->worst_lowest;
    to->worst_warp = from->worst_warp;
    memcpy(to->worst_offset, from->worst_offset, sizeof to->worst_offset);
    memcpy(to->worst_block, from->worst_block, sizeof to->worst_block);
}

uint64_t sim_watch_accesses(void)
{
    uint64_t accesses = 0;
    for (int i = 0; i < sim_workers; i++)
        accesses += sim_worker_at(i) && sim_worker_at(i)->watch ? sim_worker_at(i)->watch->accesses : 0;
    return accesses;
}

void sim_counters_collect(sim_launch_state *launch)
{
    pthread_mutex_lock(&collecting);
    kernel_total *kernel = kernel_of(launch);
    for (int i = 0; kernel && i < sim_workers; i++) {
        struct sim_watch *watch = sim_worker_at(i) ? sim_worker_at(i)->watch : NULL;
        if (!watch)
            continue;
        for (uint32_t k = 0; k < watch->touched_count; k++) {
            uint32_t index = watch->touched[k];
            sim_count *to = total_of(kernel, index / SIM_SPACES, (uint8_t)(index % SIM_SPACES));
            if (to)
                add(to, &watch->counters[index]);
            memset(&watch->counters[index], 0, sizeof watch->counters[index]);
        }
        watch->touched_count = 0;
        kernel->count.accesses += watch->accesses;
        kernel->count.barriers += watch->barriers;
        watch->accesses = watch->barriers = 0;
    }
    if (kernel) {
        kernel->count.launches++;
        kernel->count.threads += launch->blocks * (uint64_t)launch->threads;
        kernel->count.blocks += launch->blocks;
        kernel->count.watched += launch->watched;
    }
    pthread_mutex_unlock(&collecting);
}

void sim_counters_repeated(const sim_launch_state *launch)
{
    pthread_mutex_lock(&collecting);
    kernel_total *kernel = kernel_of(launch);
    if (kernel) {
        kernel->count.launches++;
        kernel->count.repeated++;
    }
    pthread_mutex_unlock(&collecting);
}

void sim_counters_each(void (*visit)(const sim_count *count, void *context), void *context)
{
    for (const kernel_total *kernel = kernels; kernel; kernel = kernel->next)
        for (const total *one = kernel->totals; one; one = one->next)
            visit(&one->count, context);
}

void sim_kernel_counts_each(void (*visit)(const sim_kernel_count *count, void *context), void *context)
{
    for (const kernel_total *kernel = kernels; kernel; kernel = kernel->next)
        visit(&kernel->count, context);
}
