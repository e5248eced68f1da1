// The inside of core/: what it keeps of a worker and of a resident block beyond worker.h, and the few steps out of
// which barriers, warp collectives and spinning are made. A thread that has to wait goes through three of them:
//
//     sim_thread_stops(worker);          the watch closes the lane's log
//     ... note why it waits, clear its ready bit ...
//     sim_thread_waits(worker);          others run; comes back when somebody has made the thread ready
//
#ifndef SIM_SCHEDULER_H
#define SIM_SCHEDULER_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/core.h"
#include "core/fiber.h"
#include "core/stacks.h"
#include "findings/finding.h"
#include "machine/errors.h"
#include "machine/worker.h"
#include "progress/progress.h"
#include "watch/watch.h"

// Lanes of one warp that meet in a collective. Kept at the index of the first lane that came.
typedef struct sim_meeting {
    uint32_t mask, arrived; // the lanes that the callers named; those that are here
    void (*function)(void **arguments, unsigned mask);
} sim_meeting;

// A read of a lane that was not there, by a shuffle: the lanes by their numbers, the call's place.
typedef struct sim_lost_read {
    uintptr_t at;
    uint8_t reader, source;
} sim_lost_read;
enum { SIM_HELD_VALUES = 4 };

// A block that has started and not ended.
typedef struct sim_resident {
    sim_block block; // the part the others know; first, so that a sim_block * is a sim_resident *
    struct sim_resident *next;
    // By thread.
    sim_context context[SIM_THREADS]; // of those that have started and do not run
    uint32_t stack[SIM_THREADS];
    uint64_t value[SIM_THREADS]; // what a thread brings to a collective, then what it takes away
    int argument[SIM_THREADS];
    uint8_t width[SIM_THREADS], operation[SIM_THREADS];
    sim_meeting meeting[SIM_THREADS];
    // By warp: lanes.
    uint32_t at_barrier[SIM_WARPS], asking[SIM_WARPS]; // asking: in sim_active_mask
    uint32_t leaders[SIM_WARPS];                       // open meetings
    // Shuffles down that read lanes that were not there (warp_results.c): lanes that got such a value in the last step,
    // and those seen to have used it; by thread, who read whom, and where; how far the last one reached; by warp,
    // whether it is still open that a reduction follows; if so, who read whom, and where.
    uint32_t received[SIM_WARPS], undefined[SIM_WARPS];
    sim_lost_read lost[SIM_THREADS];
    // What the lanes brought to the last step: of several values that are reduced side by side the first few.
    uint64_t held[SIM_HELD_VALUES][SIM_THREADS];
    uint8_t held_count[SIM_WARPS], shift[SIM_WARPS], open_reader[SIM_WARPS], open_source[SIM_WARPS];
    uintptr_t open_at[SIM_WARPS];
    uint32_t warps_open, warps_reducing;
    uint32_t warps_ready; // may hold a warp too many, never one too few
    // The block barrier that is being waited at.
    uintptr_t barrier_at;
    bool barrier_mixed;                   // not all wait at the same place
    int barrier_true;                     // arrivals with a true predicate
    int barrier_result, barrier_arrivals; // of the barrier that was passed last
    uintptr_t exited_at;                  // the barrier that was last reported for threads that had exited
    struct sim_named *named;              // named.c's own
    bool named_used;                      // by this block
    int at_grid;
    sim_block_progress progress;
    char *shared; // its shared memory while another block runs; as large as the launch needs
    bool waited;  // for other blocks, before
    bool stopped; // behind a barrier, for the others' turn (turns.c)
    bool away;    // its shared memory is there and not in place
} sim_resident;

// A worker, with what core/ keeps of it.
typedef struct sim_runner {
    sim_worker worker;   // first, so that a sim_worker * is a sim_runner *
    sim_context outside; // the OS thread's own stack: chooses blocks, starts and ends them
    sim_stacks stacks;
    sim_dim index[SIM_THREADS]; // by thread, for blocks of this size:
    sim_dim indexed;
    sim_worker_progress progress;
    // Lanes of the current warp that run one after the other as a plain loop; those of them that have not begun. While
    // that lasts the block does not know yet which of them have ended. 0: no such loop runs.
    uint32_t batch, fresh;
    uint64_t clock;
    bool abandoned;                             // the block that ran last cannot go on
    sim_resident *spare;                        // to be used again
    sim_resident *here;                         // whose shared memory is in place
    sim_resident *queue, **queue_end;           // may go on, oldest first
    sim_resident *grid_queue, **grid_queue_end; // wait at the grid barrier
    uint64_t grid_round;                        // that they wait for the end of
    uint32_t resident, stopped;                 // blocks; those in the queue that have stopped behind a barrier
    // A signal that ended a thread (fault.c).
    int signal;
    uintptr_t signal_pc, signal_address;
    volatile bool busy; // the runtime is at work for the current thread, which must not be interrupted
} sim_runner;

static inline sim_runner *sim_runner_of(sim_worker *worker)
{
    return (sim_runner *)worker;
}

static inline sim_resident *sim_resident_of(sim_block *block)
{
    return (sim_resident *)block;
}

// The worker of this OS thread, also while sim_current is NULL; NULL on a host thread.
extern __thread sim_worker *sim_worker_here;

// --- steps of a thread (scheduler.c), on its own stack --------------------------------------------------------------

// Ends the plain loop because its current thread has to wait.
void sim_batch_break(sim_worker *worker);

static inline void sim_thread_stops(sim_worker *worker)
{
    sim_runner_of(worker)->busy = true;
    if (sim_runner_of(worker)->batch)
        sim_batch_break(worker);
    if (sim_watching)
        sim_watch_leave(worker);
}

// As in watch/scheduler.h.
void sim_thread_log_full(sim_worker *worker);
uintptr_t sim_thread_stack_top(sim_worker *worker);
// Others run. The thread is made ready by somebody, or was left ready and waits its turn.
void sim_thread_waits(sim_worker *worker);
// The current thread is over; its stack is given up. It has stopped.
void sim_thread_ends(sim_worker *worker) __attribute__((noreturn));
// The current block cannot go on: abandons all of its threads. The finding has been reported.
void sim_block_fail(sim_worker *worker, int error) __attribute__((noreturn));

static inline void sim_lane_ready(sim_resident *resident, int warp, uint32_t lanes)
{
    resident->block.ready[warp] |= lanes;
    resident->warps_ready |= 1u << warp;
}

// --- steps of a block (scheduler.c), on the worker's own stack ------------------------------------------------------

typedef enum sim_outcome { SIM_BLOCK_ENDED, SIM_BLOCK_STUCK, SIM_BLOCK_ABANDONED } sim_outcome;

void sim_block_begin(sim_worker *worker, sim_resident *resident, uint64_t number);
// Runs the block's threads until all have ended or none can go on.
sim_outcome sim_block_go(sim_worker *worker);
// Takes back the stacks of the threads that have not ended.
void sim_block_abandon(sim_worker *worker, sim_resident *resident);
void sim_launch_fail(sim_launch_state *launch, int error);

// --- parts that may be absent from a program ------------------------------------------------------------------------

// named.c: a thread has ended; named barriers that wait for all threads may be complete.
extern void (*sim_named_ended)(sim_worker *worker);
// printf.c: shows what kernels have printed.
extern void (*sim_printf_flush)(void);

// --- barrier.c ------------------------------------------------------------------------------------------------------

void sim_barrier_at(sim_worker *worker, uintptr_t pc);
// All live threads wait at the block barrier: they may go on. The current thread has stopped.
void sim_barrier_release(sim_worker *worker);
// Reports threads that wait together at different places; `what` is the function they wait in.
void sim_barrier_compare(sim_worker *worker, const uint32_t lanes[SIM_WARPS], const char *what);
// Reports that threads of the block have ended before the barrier that `lanes` are at.
void sim_barrier_exited(sim_worker *worker, const uint32_t lanes[SIM_WARPS]);

// --- meet.c, warp_results.c, active.c -------------------------------------------------------------------------------

enum { SIM_WARP_SYNC = 64, SIM_WARP_CALL, SIM_WARP_ACTIVE }; // operations besides those of abi.h

uint64_t sim_meet(sim_worker *worker, int operation, unsigned mask, uint64_t value, uintptr_t pc);
// A lane of the current warp has ended: meetings that waited for it may be complete.
void sim_meet_ended(sim_worker *worker);
// What each of the lanes gets: resident->value, from what they brought. gone: lanes that their mask names and that
// have exited. False: something was wrong, and reported.
bool sim_warp_results(sim_worker *worker, uint32_t lanes, uint32_t gone);
// No collective follows in this block: what was left open is reported.
void sim_warp_conclude(sim_worker *worker);
const char *sim_warp_name(int operation);
// The lanes of the current warp that ask who is active can be answered, because no other can run.
void sim_active_answer(sim_worker *worker);

// --- polling.c ------------------------------------------------------------------------------------------------------

// As in watch/scheduler.h.
void sim_thread_polls(sim_worker *worker, uintptr_t pc, bool surely, const sim_polled *word);
void sim_thread_delays(sim_worker *worker, uintptr_t pc);
// The current thread was interrupted at `pc` in a loop that only polls: others run, other blocks at once.
void sim_thread_interrupted(sim_worker *worker, uintptr_t pc);
void sim_wake_polling(sim_resident *resident);

// --- resident.c -----------------------------------------------------------------------------------------------------

sim_resident *sim_resident_new(sim_worker *worker);
void sim_resident_free(sim_worker *worker, sim_resident *resident);
// Puts the block's shared memory and index in place; another block's is put away. False: no memory for that.
bool sim_resident_bring(sim_worker *worker, sim_resident *resident);
bool sim_resident_put_away(sim_worker *worker);

// --- turns.c --------------------------------------------------------------------------------------------------------

void sim_turns_begin(const sim_launch_state *launch);
// Whether the block that has just met at its barrier stops there, so that others have a turn.
bool sim_turns_stop(const sim_launch_state *launch);

// --- grid.c ---------------------------------------------------------------------------------------------------------

void sim_grid_begin(sim_launch_state *launch);
void sim_grid_arrive(sim_worker *worker, sim_resident *resident); // all its live threads wait; it has been put away
void sim_grid_block_ended(sim_worker *worker);
// Waits until the blocks of this worker that wait at the grid barrier may go on, and queues them. False: launch failed.
bool sim_grid_wait(sim_worker *worker);
void sim_grid_wake(void); // the launch has failed

// --- deadlock.c ------------------------------------------------------------------------------------------

void sim_deadlock_report(sim_worker *worker);

// Whoever makes a finding reports it next, which takes locks and time.
static inline sim_finding sim_finding_make(sim_worker *worker, sim_finding_kind kind, sim_tier tier)
{
    sim_runner_of(worker)->busy = true;
    return sim_finding_of(worker, kind, tier);
}

// --- worker.c, launch.c, fault.c ------------------------------------------------------------------------

// Once; later calls do nothing but tell the same: NULL, or why there is no worker.
const char *sim_pool_start(void);
void sim_pool_run(void (*job)(sim_worker *), int workers); // calls job on that many workers and waits for them
void sim_launch_run_blocks(sim_worker *worker);            // a worker's share of the current launch
void sim_fault_install(void);                              // once for the process
void sim_fault_alternate_stack(void);                      // once for each OS thread

#endif
