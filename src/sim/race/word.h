// One word against its cell: the common case in a few instructions, the rest in word.c and exact.c. Where a cell has to
// be locked, the caller holds the lock. `me`: the time of the access.
#pragma once

#include "race/view.h"

extern sim_region sim_global_region, sim_data_region;

// The region an address lies in, for this worker; NULL: no shadow.
sim_region *sim_region_of(sim_worker *worker, uintptr_t address);
void sim_view_make(sim_view *view, sim_worker *worker, const sim_region *region, unsigned site);

void sim_word_read_slow(const sim_view *view, sim_cell *cell, uint64_t me, uintptr_t address);
void sim_word_write_slow(const sim_view *view, sim_cell *cell, uint64_t me, uintptr_t address);

static inline void sim_word_read(const sim_view *view, sim_cell *cell, uint64_t me, uintptr_t address)
{
    uint64_t write = cell->write, read = cell->read;
    if (__builtin_expect(write < view->floor || sim_same_thread(write, me), 1)) {
        if (read < view->floor) {
            cell->read = me;
            return;
        }
        // One reader more changes nothing that a later write would be judged by.
        uint64_t many = read & SIM_FLAGS;
        if ((many == SIM_MANY_BLOCKS && read >= view->begun) ||
            (many == SIM_MANY_WARPS && (read ^ me) >> SIM_STAMP_SHIFT == 0))
            return;
        if (sim_same_thread(read, me)) {
            cell->read = me | many;
            return;
        }
    }
    sim_word_read_slow(view, cell, me, address);
}

static inline void sim_word_write(const sim_view *view, sim_cell *cell, uint64_t me, uintptr_t address)
{
    uint64_t write = cell->write, read = cell->read;
    if (__builtin_expect(
            (write < view->floor || sim_same_thread(write, me)) &&
                (read < view->floor || (sim_same_thread(read, me) && (read & SIM_FLAGS) == SIM_ONE_READER)),
            1)) {
        cell->write = me;
        cell->read = 0;
        return;
    }
    sim_word_write_slow(view, cell, me, address);
}
