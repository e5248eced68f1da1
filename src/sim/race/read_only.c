// Which reads found what their own launch has written, and which of them are __ldg, fetch a texture or read a surface.

#define _GNU_SOURCE 1
#include "race/read_only.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/lines.h"
#include "race/clock.h"
#include "race/exact.h"
#include "race/site.h"
#include "race/word.h"

typedef struct late_read {
    sim_finding finding;
    struct late_read *next;
} late_read;

static late_read *reads;
static bool looked[SIM_SITES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void describe(const sim_view *view, int thread, const sim_earlier *earlier, uintptr_t address,
                     sim_finding *finding)
{
    const bool fetches = sim_sites[view->site].fetches;
    *finding = sim_finding_of(view->worker, SIM_RACE, fetches ? SIM_ERROR : SIM_WARNING);
    finding->order = SIM_ORDER_BARRIER;
    finding->address = address;
    finding->bytes = sim_sites[view->site].bytes;
    snprintf(finding->message, sizeof finding->message,
             "%s of memory that the same kernel has written: it may return "
             "a stale value",
             fetches ? "fetch from a texture" : "read by __ldg");
    if (fetches)
        snprintf(finding->note, sizeof finding->note,
                 "textures are read through a cache that no barrier or fence brings up to date: what a kernel writes "
                 "can be fetched by the next one");
    finding->place[0] = sim_place_of(view->worker, thread, sim_sites[view->site].pc, "read");
    finding->place[1] = sim_race_place(earlier);
}

// Once for each site.
static void keep(const sim_view *view, int thread, const sim_earlier *earlier, uintptr_t address)
{
    if (view->site == 0 || __atomic_exchange_n(&looked[view->site], true, __ATOMIC_RELAXED))
        return;
    late_read *one = calloc(1, sizeof *one);
    if (!one)
        return;
    describe(view, thread, earlier, address, &one->finding);
    pthread_mutex_lock(&lock);
    one->next = reads;
    reads = one;
    pthread_mutex_unlock(&lock);
}

void sim_read_only_read(const sim_view *view, int thread, uint64_t write, uintptr_t address)
{
    if (__atomic_load_n(&looked[view->site], __ATOMIC_RELAXED))
        return;
    const sim_earlier earlier = {sim_stamp_of(write), sim_thread_of(write), sim_site_of(write), SIM_WRITE, false, 0};
    if (earlier.thread != (unsigned)thread || sim_clock_block_of(earlier.stamp) != view->clock->serial)
        keep(view, thread, &earlier, address);
}

void sim_read_only_fetches(uintptr_t pc)
{
    for (unsigned site = sim_site_find(pc); site != 0; site = sim_sites[site].other)
        __atomic_store_n(&sim_sites[site].fetches, true, __ATOMIC_RELAXED);
}

static void fetch_lane(const sim_view *view, const sim_region *region, int thread, uintptr_t address)
{
    const sim_page page = sim_page_find(region, address);
    const sim_cell *cell = page.cells ? sim_cell_at(page, address) : NULL;
    sim_earlier write = {.kind = SIM_WRITE};
    if (!cell || cell->write == 0)
        return;
    if (sim_exact_is(cell)) {
        sim_exact_last_write(cell, &write);
    } else {
        write.stamp = sim_stamp_of(cell->write);
        write.thread = sim_thread_of(cell->write);
        write.site = sim_site_of(cell->write);
    }
    if (write.stamp >= sim_clock_begun)
        keep(view, thread, &write, address);
}

void sim_read_only_row(sim_worker *worker, const sim_row *row)
{
    for (int i = 0; i < row->runs && !__atomic_load_n(&looked[row->site], __ATOMIC_RELAXED); i++) {
        const sim_stretch *run = &row->run[i];
        const sim_region *region = sim_region_of(worker, run->address);
        sim_view view;
        if (!region || region->shared)
            continue;
        sim_view_make(&view, worker, region, row->site);
        for (int lane = 0; lane < run->lanes; lane++)
            fetch_lane(&view, region, worker->warp * SIM_LANES + run->first + lane,
                       run->address + (uintptr_t)run->stride * (unsigned)lane);
    }
}

// By the name of the function that was inlined there, or, where that is not known, by the line of our header.
static bool is_read_only_load(const sim_frame *load)
{
    static const char name[] = "__ldg";
    size_t length = 0;
    const char *line = load ? sim_source_line(load->file, load->line, &length) : NULL;
    return load &&
           (strncmp(load->function, name, strlen(name)) == 0 || (line && memmem(line, length, name, strlen(name))));
}

static bool is_surface_read(const sim_frame *load)
{
    return load && strstr(load->file, "/surface_fetch.h");
}

static void report(late_read *one)
{
    const sim_stack *stack = sim_lines_of(one->finding.place[0].pc);
    const sim_frame *load = stack ? stack->within : NULL;
    if (is_surface_read(load))
        snprintf(one->finding.message, sizeof one->finding.message,
                 "read from a surface of memory that another thread of the same kernel has written: it may return a "
                 "stale value");
    // Fetches are known already.
    if (one->finding.tier == SIM_ERROR || is_surface_read(load) || is_read_only_load(load))
        sim_report(&one->finding);
}

void sim_read_only_report(void)
{
    pthread_mutex_lock(&lock);
    for (late_read *one = reads; one; one = one->next)
        for (int place = 0; place < SIM_PLACES; place++)
            sim_lines_want(one->finding.place[place].pc);
    if (reads)
        sim_lines_resolve();
    for (late_read *one = reads; one; one = one->next)
        report(one);
    reads = NULL; // not freed: the program may have crashed in the middle of malloc
    pthread_mutex_unlock(&lock);
}
