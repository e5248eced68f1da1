// Three kinds of rows tell the race detector of a copy: its issue, as a write of the target that makes nothing
// initialised and that nobody counts; its landing, where it is waited for, as the write that is made; and its source,
// read once more there. The issue leaves a word without readers behind. Whoever is found in it at the landing has used
// the target while the copy was under way, which no barrier makes right; and the source, read at the issue, has been
// written since where it has no reader any more.

#include "watch/under_way.h"

#include <stdatomic.h>
#include <stdio.h>

#include "race/exact.h"
#include "race/granule.h"
#include "race/unwritten.h"
#include "watch/internal.h"

// An issue for which no site was left went unnoticed: what a landing finds in a word then proves nothing.
static atomic_bool unnoticed;

static bool is_copy(unsigned site)
{
    return sim_sites[site].copy != SIM_NO_COPY;
}

// --- what is found ---------------------------------------------------------------------------------------------------

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
    sim_finding finding = {.kind = SIM_RACE,
                           .tier = SIM_ERROR,
                           .kernel = view->worker->launch->kernel->name,
                           .address = here->address,
                           .bytes = sim_sites[site].bytes,
                           .order = SIM_ORDER_COPY};
    snprintf(finding.message, sizeof finding.message, "%s of %s memory that an asynchronous copy under way %s",
             writes ? "write" : "read", view->shared ? "shared" : "global", source ? "reads" : "writes");
    snprintf(finding.note, sizeof finding.note, "nothing waits for the copy between its issue and the %s",
             writes ? "write" : "read");
    sim_race_place(used, &finding.place[0]);
    finding.place[1] = (sim_place){.pc = sim_sites[site].pc, .role = "copy"};
    sim_place_thread(view->worker, here->issue.site ? (int)here->issue.thread : here->thread, &finding.place[1]);
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

// --- cells -----------------------------------------------------------------------------------------------------------

// The word keeps the site of the issue: that is the line that writes, as far as a person is concerned.
static void land(const sim_view *view, sim_cell *cell, int thread, uint64_t me, uintptr_t address)
{
    landing here = {.view = view, .thread = thread, .address = address};
    each(cell, find_issue, &here);
    each(cell, judge, &here);
    sim_exact_forget(cell);
    unsigned site = here.issue.site ? here.issue.site : view->site;
    cell->write = me | (uint64_t)site << SIM_SITE_SHIFT;
}

static void read_again(const sim_view *view, sim_cell *cell, int thread, uint64_t me, uintptr_t address)
{
    uint64_t write = sim_exact_is(cell) || cell->read ? 0 : cell->write;
    if (write && !unnoticed && !is_copy(sim_site_of(write)) && sim_view_ordered(view, thread, write) &&
        sim_clock_block_of(sim_stamp_of(write)) == view->clock->serial) {
        landing here = {.view = view, .thread = thread, .address = address};
        sim_earlier used = earlier_of(write, SIM_WRITE);
        report(&here, &used, true);
    }
    sim_race_read_cell(view, cell, me | (uint64_t)view->site << SIM_SITE_SHIFT, address);
}

static void access_cells(const sim_view *view, sim_region *region, int thread, uintptr_t address)
{
    const sim_site *about = &sim_sites[view->site];
    uint64_t me = sim_clock_word(view->clock, thread);
    for (uintptr_t at = address; at < address + about->bytes;) {
        sim_page page = sim_page_find(region, at);
        if (!page.cells || (about->bytes < 4 && page.grain != 0))
            return; // there was no memory for them
        sim_cell *cell = sim_cell_at(page, at);
        if (about->copy == SIM_COPY_ISSUED)
            sim_race_write_cell(view, cell, me | (uint64_t)view->site << SIM_SITE_SHIFT, at);
        else if (about->copy == SIM_COPY_LANDED)
            land(view, cell, thread, me, at);
        else
            read_again(view, cell, thread, me, at);
        at = (at >> page.grain << page.grain) + ((uintptr_t)1 << page.grain);
    }
}

static void access_lane(sim_worker *worker, unsigned site, int thread, uintptr_t address)
{
    const sim_site *about = &sim_sites[site];
    sim_region *region = sim_region_of(worker, address);
    if (!region)
        return;
    if (about->copy == SIM_COPY_LANDED && region->initialised)
        sim_region_mark(region, address, about->bytes, true);
    if (sim_clock_spent)
        return;
    sim_view view;
    sim_view_make(&view, worker, region, site);
    sim_page_at(region, address, about->bytes);
    if (view.common)
        sim_granules_lock(address, about->bytes);
    access_cells(&view, region, thread, address);
    if (view.common)
        sim_granules_unlock(address, about->bytes);
}

void sim_under_way_row(sim_worker *worker, const sim_row *row)
{
    for (int i = 0; i < row->runs; i++) {
        const sim_stretch *run = &row->run[i];
        for (int lane = 0; lane < run->lanes; lane++)
            access_lane(worker, row->site, worker->warp * SIM_LANES + run->first + lane,
                        run->address + (uintptr_t)run->stride * (unsigned)lane);
    }
}

// --- what is told of a copy ------------------------------------------------------------------------------------------

void sim_under_way_note(uintptr_t address, size_t bytes, unsigned copy, uintptr_t pc, uintptr_t issued)
{
    enum { LARGEST = 16 };
    sim_worker *worker = sim_current;
    if (!sim_watching || !worker || bytes == 0 || address - worker->stacks_lo < worker->stacks_hi - worker->stacks_lo)
        return;
    unsigned piece = LARGEST, kind = copy == SIM_COPY_SOURCE ? SIM_READ : SIM_WRITE;
    while (bytes % piece != 0 || address % piece != 0)
        piece /= 2;
    unsigned site = sim_site_copying(pc, copy, kind, piece);
    unsigned asked = issued ? sim_site_copying(issued, SIM_COPY_ISSUED, SIM_WRITE, piece) : 0;
    for (uintptr_t at = address; at < address + bytes; at += piece) {
        if (!sim_access_check(worker, site, at, piece, kind, pc))
            continue;
        if (sim_access_unnumbered(worker, site, at, piece, copy == SIM_COPY_LANDED)) {
            unnoticed |= copy == SIM_COPY_ISSUED;
            continue;
        }
        if (sim_sites[asked].values)
            sim_values_store(worker, asked, at);
        sim_log_add(worker, site, at);
    }
}

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
