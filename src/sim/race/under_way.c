// Three kinds of rows tell the race detector of a copy: its issue, as a write of the target that makes nothing
// initialised and that nobody counts; its landing, where it is waited for, as the write that is made; and its source,
// read once more there. The issue leaves a word without readers behind. Whoever is found in it at the landing has used
// the target while the copy was under way, which no barrier makes right; and the source, read at the issue, has been
// written since where it has no reader any more.

#include "race/under_way.h"

#include <stdatomic.h>
#include <stdio.h>

#include "race/exact.h"
#include "race/granule.h"
#include "race/site.h"
#include "race/unwritten.h"
#include "race/word.h"

static atomic_bool unnoticed;

void sim_under_way_unnoticed(void)
{
    unnoticed = true;
}

static bool is_copy(unsigned site)
{
    return sim_sites[site].copy != SIM_NO_COPY;
}

// --- what is found --------------------------------------------------------------------------------------------------

typedef struct landing {
    const sim_view *view;
    int thread;
    uintptr_t address;
    sim_earlier issue; // site 0: no longer known
} landing;

static void report(const landing *here, const sim_earlier *used, bool source)
{
    const sim_view *view = here->view;
    unsigned site = here->issue.site ? here->issue.site : view->site;
    bool writes = used->kind != SIM_READ && used->kind != SIM_VOLATILE_READ;
    sim_finding finding = sim_finding_of(view->worker, SIM_RACE, SIM_ERROR);
    finding.address = here->address;
    finding.bytes = sim_sites[site].bytes;
    finding.order = SIM_ORDER_COPY;
    snprintf(finding.message, sizeof finding.message, "%s of %s memory that an asynchronous copy still %s",
             writes ? "write" : "read", view->shared ? "shared" : "global", source ? "reads" : "writes");
    snprintf(finding.note, sizeof finding.note, "nothing waits for the copy between its issue and the %s",
             writes ? "write" : "read");
    finding.place[0] = sim_race_place(used);
    finding.place[1] = sim_place_of(view->worker, here->issue.site ? (int)here->issue.thread : here->thread,
                                    sim_sites[site].pc, "copy");
    sim_report(&finding);
}

static void find_issue(const sim_earlier *one, void *context)
{
    landing *here = context;
    if (is_copy(one->site))
        here->issue = *one;
}

// An access that another thread made in the interval of the issue races with it by the usual rules, and is told by
// them. Where the issue has been written over, that cannot be seen: then only a thread's own writes are sure.
static void judge(const sim_earlier *one, void *context)
{
    landing *here = context;
    bool own = one->thread == (unsigned)here->thread, known = here->issue.site != 0;
    bool usual = known && one->stamp == here->issue.stamp && one->thread != here->issue.thread;
    bool unsure = !known && one->kind == SIM_WRITE && !own;
    if (is_copy(one->site) || usual || unsure || unnoticed ||
        sim_clock_block_of(one->stamp) != here->view->clock->serial)
        return;
    sim_unwritten_explained(here->view, here->address);
    report(here, one, false);
}

static sim_earlier earlier_of(uint64_t word, unsigned kind)
{
    return (sim_earlier){
        .stamp = sim_stamp_of(word), .thread = sim_thread_of(word), .site = sim_site_of(word), .kind = kind};
}

static void each(const sim_cell *cell, void (*visit)(const sim_earlier *one, void *context), landing *here)
{
    if (sim_exact_is(cell)) {
        sim_exact_each(cell, visit, here);
        return;
    }
    sim_earlier write = earlier_of(cell->write, SIM_WRITE), read = earlier_of(cell->read, SIM_READ);
    if (cell->write)
        visit(&write, here);
    if (cell->read)
        visit(&read, here);
}

// --- cells ----------------------------------------------------------------------------------------------------------

// Most words of a copy are met by nobody between its issue and its landing: those take a few instructions.

static inline void issue(const sim_view *view, sim_cell *cell, uint64_t me, uintptr_t address)
{
    if (cell->write < view->floor && cell->read < view->floor)
        *cell = (sim_cell){.write = me};
    else
        sim_word_write_slow(view, cell, me, address);
}

// The word keeps the site of the issue: that is the line that writes, as far as a person is concerned.
static __attribute__((noinline)) void land_slow(const sim_view *view, sim_cell *cell, uint64_t me, uintptr_t address)
{
    landing here = {.view = view, .thread = (int)sim_thread_of(me), .address = address};
    each(cell, find_issue, &here);
    each(cell, judge, &here);
    sim_exact_forget(cell);
    unsigned site = here.issue.site ? here.issue.site : view->site;
    cell->write = me | (uint64_t)site << SIM_SITE_SHIFT;
}

static inline void land(const sim_view *view, sim_cell *cell, uint64_t me, uintptr_t address)
{
    unsigned site = sim_site_of(cell->write);
    if (cell->read == 0 && !sim_exact_is(cell) && is_copy(site))
        cell->write = me | (uint64_t)site << SIM_SITE_SHIFT;
    else
        land_slow(view, cell, me, address);
}

static __attribute__((noinline)) void read_again_slow(const sim_view *view, sim_cell *cell, uint64_t me,
                                                      uintptr_t address)
{
    int thread = (int)sim_thread_of(me);
    uint64_t write = sim_exact_is(cell) || cell->read ? 0 : cell->write;
    if (write && !unnoticed && !is_copy(sim_site_of(write)) && sim_view_ordered(view, thread, write) &&
        sim_clock_block_of(sim_stamp_of(write)) == view->clock->serial) {
        landing here = {.view = view, .thread = thread, .address = address};
        sim_earlier used = earlier_of(write, SIM_WRITE);
        report(&here, &used, true);
    }
    sim_word_read_slow(view, cell, me, address);
}

// A word that several blocks have read and none has written, as inputs are, stays as it is.
static inline void read_again(const sim_view *view, sim_cell *cell, uint64_t me, uintptr_t address)
{
    bool many = (cell->read & SIM_FLAGS) == SIM_MANY_BLOCKS && cell->read >= view->begun;
    if (!many || cell->write >= view->floor)
        read_again_slow(view, cell, me, address);
}

static void access_cells(const sim_view *view, const sim_region *region, int thread, uintptr_t address)
{
    const sim_site *about = &sim_sites[view->site];
    uint64_t time = sim_clock_word(view->clock, thread), me = time | (uint64_t)view->site << SIM_SITE_SHIFT;
    for (uintptr_t at = address; at < address + about->bytes;) {
        sim_page page = sim_page_find(region, at);
        if (!page.cells || (about->bytes < 4 && page.grain != 0))
            return; // there was no memory for them
        sim_cell *cell = sim_cell_at(page, at);
        if (about->copy == SIM_COPY_ISSUED)
            issue(view, cell, me, at);
        else if (about->copy == SIM_COPY_LANDED)
            land(view, cell, time, at);
        else
            read_again(view, cell, me, at);
        at = (at >> page.grain << page.grain) + ((uintptr_t)1 << page.grain);
    }
}

// --- rows -----------------------------------------------------------------------------------------------------------

// Lanes whose bytes, `span` in all, lie in one page.
static void access_lanes(const sim_view *view, sim_region *region, const sim_stretch *run, size_t span)
{
    int thread = view->worker->warp * SIM_LANES + run->first;
    sim_page_at(region, run->address, sim_sites[view->site].bytes);
    if (view->common)
        sim_granules_lock(run->address, span);
    for (int lane = 0; lane < run->lanes; lane++)
        access_cells(view, region, thread + lane, run->address + (uintptr_t)run->stride * (unsigned)lane);
    if (view->common)
        sim_granules_unlock(run->address, span);
}

static void access_run(const sim_view *view, sim_region *region, const sim_stretch *run)
{
    unsigned bytes = sim_sites[view->site].bytes;
    size_t span = sim_stretch_span(run, bytes);
    if (sim_sites[view->site].copy == SIM_COPY_LANDED && region->initialised)
        sim_region_mark(region, run->address, span, true);
    if (sim_clock_spent)
        return;
    if ((run->address & (SIM_PAGE_BYTES - 1)) + span <= SIM_PAGE_BYTES) {
        access_lanes(view, region, run, span);
        return;
    }
    // Each lane's own bytes are aligned, and so in one page.
    for (int i = 0; i < run->lanes; i++) {
        sim_stretch lane = {run->first + i, 1, run->address + (uintptr_t)run->stride * (unsigned)i, 0};
        access_lanes(view, region, &lane, bytes);
    }
}

void sim_under_way_row(sim_worker *worker, const sim_row *row)
{
    sim_region *region = NULL;
    sim_view view;
    for (int i = 0; i < row->runs; i++) {
        const sim_stretch *run = &row->run[i];
        if (!region || run->address - region->base >= region->span) {
            region = sim_region_of(worker, run->address);
            if (!region)
                continue;
            sim_view_make(&view, worker, region, row->site);
        }
        access_run(&view, region, run);
    }
}

// --- the end of a block ---------------------------------------------------------------------------------------------

// Whoever has used the target since the issue cannot have waited. Nothing is logged: the threads have ended.
void sim_under_way_left(sim_worker *worker, int thread, uintptr_t address, size_t bytes, uintptr_t issued)
{
    sim_region *region = sim_region_of(worker, address);
    unsigned site = sim_site_find(issued);
    if (!region || site == 0 || sim_clock_spent)
        return;
    sim_view view;
    sim_view_make(&view, worker, region, site);
    for (uintptr_t at = address; at < address + bytes;) {
        sim_page page = sim_page_find(region, at);
        if (!page.cells)
            return;
        landing here = {.view = &view, .thread = thread, .address = at};
        const sim_cell *cell = sim_cell_at(page, at);
        if (view.common)
            sim_granules_lock(at, 1);
        each(cell, find_issue, &here);
        each(cell, judge, &here);
        if (view.common)
            sim_granules_unlock(at, 1);
        at = (at >> page.grain << page.grain) + ((uintptr_t)1 << page.grain);
    }
}
