// Asynchronous copies (cp.async, memcpy_async, pipelines) between their issue and the wait that ends them. A copy is
// made where it is waited for; for races its target is written from the issue on, and its source is read until the
// wait.
#pragma once

#include "race/race.h"

// A row of a site that belongs to an asynchronous copy, held against shadow memory.
void sim_under_way_row(sim_worker *worker, const sim_row *row);
// At the end of the worker's block: a copy that `thread` asked for and that nobody has waited for.
void sim_under_way_left(sim_worker *worker, int thread, uintptr_t address, size_t bytes, uintptr_t issued);
// An issue for which no site was left went unnoticed: what a landing finds in a word then proves nothing.
void sim_under_way_unnoticed(void);
