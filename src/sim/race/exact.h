// The full story of one cell, for those that two words cannot tell: words touched by atomics or through volatile, and,
// in kernels whose threads meet in finer ways than the block barrier, words with several readers. A list of accesses,
// each by some lanes of one warp at one time; an access is dropped when a later one that is ordered after it says as
// much.
#pragma once

#include <stdbool.h>

#include "race/cell.h"
#include "race/view.h"

static inline bool sim_exact_is(const sim_cell *cell)
{
    return cell->write >= SIM_EXACT;
}
extern bool sim_exact_any; // there has been a list (atomic access)
// A copy of a cell, with a list of its own if it has one.
sim_cell sim_exact_copy(const sim_cell *cell);
// Frees the list of an exact cell.
void sim_exact_free(const sim_cell *cell);
// Forgets the cell's story, whichever form it has.
static inline void sim_exact_forget(sim_cell *cell)
{
    if (sim_exact_is(cell))
        sim_exact_free(cell);
    *cell = (sim_cell){0};
}
// The last write that the list of an exact cell has; *last stays as it is where there is none.
void sim_exact_last_write(const sim_cell *cell, sim_earlier *last);
void sim_exact_last_read(const sim_cell *cell, sim_earlier *last); // the same for accesses that only read
// Every access of an exact cell's list; of several lanes the first is named.
void sim_exact_each(const sim_cell *cell, void (*visit)(const sim_earlier *one, void *context), void *context);
// The same, each as the word that a cell without a list would have for it (cell.h).
void sim_exact_each_word(const sim_cell *cell, void (*visit)(uint64_t word, bool reads, void *context), void *context);
// Whether an exact cell tells only of plain accesses that are ordered before what the view does: then two words are
// enough again, and the cell has them. The caller holds the lock of its granule.
bool sim_exact_outlived(const sim_view *view, sim_cell *cell);
// Turns the cell into one with a list, if it is not; checks the access of `thread` against it and adds it.
// The caller holds the lock of its granule.
void sim_exact_access(const sim_view *view, sim_cell *cell, int thread, uintptr_t address);
