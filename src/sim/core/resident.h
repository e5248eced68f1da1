// Blocks that have started and not ended, and what core/ keeps of them and of a worker. Each part belongs to the file
// whose header it comes from.
#pragma once

#include "core/barrier.h"
#include "core/fault.h"
#include "core/fiber.h"
#include "core/meet.h"
#include "core/named.h"
#include "core/shuffle_down.h"
#include "core/stacks.h"
#include "machine/worker.h"
#include "progress/progress.h"

// The threads of a block (scheduler.c).
typedef struct sim_threads {
    sim_context context[SIM_THREADS]; // of those that have started and do not run
    uint32_t stack[SIM_THREADS];
    uint32_t warps_ready; // may hold a warp too many, never one too few
} sim_threads;

typedef struct sim_resident {
    sim_block block; // the part the others know; first, so that a sim_block * is a sim_resident *
    sim_threads threads;
    sim_collectives collectives;
    sim_shuffles shuffles;
    sim_barrier_state barrier;
    sim_named_state named;
    int at_grid; // threads that wait at the grid barrier (grid.c)
    sim_block_progress progress;
    // resident.c: its shared memory while another block runs, as large as the launch needs; whether it is there.
    char *shared;
    bool away;
    // launch.c: in a queue of its worker; whether it has waited for other blocks before; it has stopped behind a
    // barrier, for the others' turn (turns.c).
    struct sim_resident *next;
    bool waited, stopped;
} sim_resident;

// The blocks of a worker (launch.c, grid.c, resident.c).
typedef struct sim_blocks {
    sim_resident *spare;                        // to be used again
    sim_resident *here;                         // whose shared memory is in place
    sim_resident *queue, **queue_end;           // may go on, oldest first
    sim_resident *grid_queue, **grid_queue_end; // wait at the grid barrier
    uint64_t grid_round;                        // that they wait for the end of
    uint32_t count, stopped; // blocks that have started; those in the queue that have stopped behind a barrier
} sim_blocks;

typedef struct sim_runner {
    sim_worker worker; // first, so that a sim_worker * is a sim_runner *
    // scheduler.c, thread.c: the OS thread's own stack, which chooses blocks, starts and ends them; where a fiber
    // starts; the index of each thread, for blocks of size `indexed`.
    sim_context outside;
    void (*entry)(void);
    sim_stacks stacks;
    sim_dim index[SIM_THREADS], indexed;
    // Lanes of the current warp that run one after the other as a plain loop; those of them that have not begun. While
    // that lasts the block does not know yet which of them have ended. 0: no such loop runs.
    uint32_t batch, fresh;
    bool abandoned;     // the block that ran last cannot go on
    volatile bool busy; // the runtime is at work for the current thread, which must not be interrupted
    uint64_t clock;     // of its threads (device.c)
    uint64_t looks;     // at the clock, one after another with nothing between them
    uint64_t looked;    // the event that the last one was
    sim_worker_progress progress;
    sim_blocks blocks;
    sim_fault_state fault;
} sim_runner;

static inline sim_runner *sim_runner_of(sim_worker *worker)
{
    return (sim_runner *)worker;
}

static inline sim_resident *sim_resident_of(sim_block *block)
{
    return (sim_resident *)block;
}

sim_resident *sim_resident_new(sim_worker *worker); // NULL: no memory
void sim_resident_begin(sim_worker *worker, sim_resident *resident, uint64_t number);
void sim_resident_free(sim_worker *worker, sim_resident *resident);
// Puts the block's shared memory and index in place; another block's is put away. False: no memory for that.
bool sim_resident_bring(sim_worker *worker, sim_resident *resident);
bool sim_resident_put_away(sim_worker *worker);
