// Which launches used a byte last, for the API: it knows which of them the host has waited for.

#include "race/clock.h"
#include "race/exact.h"
#include "race/launches.h"
#include "race/view.h"
#include "watch/internal.h"

static uint64_t number_of(uint64_t word)
{
    const sim_launch_record *launch = word ? sim_launches_find(sim_clock_block_of(sim_stamp_of(word))) : NULL;
    return launch ? launch->number : 0;
}

void sim_watch_last(uintptr_t address, uint64_t *writer, uint64_t *reader)
{
    *writer = *reader = 0;
    if (!sim_watching || address - sim_global_region.base >= sim_global_region.span)
        return;
    sim_page page = sim_page_find(&sim_global_region, address);
    if (!page.cells)
        return;
    const sim_cell *cell = sim_cell_at(page, address);
    if (sim_exact_is(cell))
        return;
    *writer = number_of(cell->write);
    *reader = number_of(cell->read & ~SIM_FLAGS);
}

bool sim_watch_last_write(uintptr_t address, sim_place *place, const char **kernel)
{
    const sim_region *region =
        address - sim_data_region.base < sim_data_region.span ? &sim_data_region : &sim_global_region;
    if (!sim_watching || address - region->base >= region->span)
        return false;
    sim_page page = sim_page_find(region, address);
    const sim_cell *cell = page.cells ? sim_cell_at(page, address) : NULL;
    sim_earlier last = {.site = 0};
    if (cell && sim_exact_is(cell))
        sim_exact_last_write(cell, &last);
    else if (cell && cell->write)
        last = (sim_earlier){
            sim_stamp_of(cell->write), sim_thread_of(cell->write), sim_site_of(cell->write), SIM_WRITE, false, 0};
    const sim_launch_record *launch = last.site ? sim_launches_find(sim_clock_block_of(last.stamp)) : NULL;
    if (!launch)
        return false;
    sim_race_place(&last, place);
    *kernel = launch->name;
    return true;
}

bool sim_watch_variable_used(uintptr_t start, size_t bytes, bool written)
{
    const sim_region *region = &sim_data_region;
    for (uintptr_t at = start; sim_watching && at < start + bytes && at - region->base < region->span; at++) {
        sim_page page = sim_page_find(region, at);
        const sim_cell *cell = page.cells ? sim_cell_at(page, at) : NULL;
        if (cell && (sim_exact_is(cell) || cell->write || (cell->read && !written)))
            return true;
    }
    return false;
}
