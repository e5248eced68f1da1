// The parts of a launch: blocks taking turns, meeting at the grid barrier, and standing still.
#pragma once

#include "core/resident.h"

// --- worker.c -------------------------------------------------------------------------------------------------------

// Once; later calls do nothing but tell the same: NULL, or why there is no worker.
const char *sim_pool_start(void);
void sim_pool_run(void (*job)(sim_worker *), int workers); // calls job on that many workers and waits for them

// --- turns.c --------------------------------------------------------------------------------------------------------

void sim_turns_begin(const sim_launch_state *launch);
// Whether the block that has just met at its barrier stops there, so that others have a turn.
bool sim_turns_stop(const sim_launch_state *launch);

// --- sample.c -------------------------------------------------------------------------------------------------------

// Whether the launch repeats an earlier one and is left out for that, in a run that has spent some of its budget.
bool sim_sample_repeats(sim_launch_state *launch);
void sim_sample_begin(const sim_launch_state *launch);
void sim_sample_end(sim_launch_state *launch); // before the watch counts it
// Before the block at `position` of the order starts: waits until what the blocks before have accessed is known.
void sim_sample_wait(uint64_t position);
void sim_sample_leave(void);                                // a worker takes no further blocks
bool sim_sample_watches(uint64_t position, uint64_t block); // asked once for each block

// --- shown.c --------------------------------------------------------------------------------------------------------

void sim_shown_begin(const sim_launch_state *launch);
void sim_shown_end(void);
void sim_shown_block_ended(void);

// --- grid.c ---------------------------------------------------------------------------------------------------------

void sim_grid_begin(sim_launch_state *launch);
void sim_grid_arrive(sim_worker *worker, sim_resident *resident); // all its live threads wait; it has been put away
void sim_grid_block_ended(sim_worker *worker);
// Waits until the blocks of this worker that wait at the grid barrier may go on, and queues them. False: launch failed.
bool sim_grid_wait(sim_worker *worker);
void sim_grid_wake(void); // the launch has failed

// --- deadlock.c, printf.c -------------------------------------------------------------------------------------------

void sim_deadlock_report(sim_worker *worker);
extern void (*sim_printf_flush)(void); // shows what kernels have printed; only in programs that do
