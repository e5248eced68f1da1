// Which launches used a byte last, for the API: it knows which of them the host has waited for.

#include "race/clock.h"
#include "race/exact.h"
#include "race/launches.h"
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
