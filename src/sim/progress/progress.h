// Does anything still progress? This room decides; the layers above act: the watch stops a thread, core/ lets another
// one run or ends the launch, the API runs what is queued.
//
// Progress is counted in steps, per block and per worker: a block starts, a thread ends, a barrier or a warp collective
// completes. Events are counted too: a thread stops, or looks at a clock. A loop shows up in one of these ways.
//
// A thread polls (spin.c). It looks again 32 times in a row, at one word or at several, or 128 times with stores
// elsewhere between, a compare-and-swap of it fails, or an atomic of it changes nothing. It lets all others of its
// block run first, then other blocks. If its registers and its stack were the same at the last poll, or at every 32nd,
// which finds a loop over several words, it surely does nothing else; if not, it may be at work and is trusted for
// longer.
//
//     only polling, no thread of the host can act      error after 0.1 x SIM_SPIN_LIMIT
//     only polling, some thread of the host goes on    error after 2 x SIM_SPIN_LIMIT
//     polling that may be work, no step anywhere       error after 3 x SIM_SPIN_LIMIT
//
// Before any of these every block of the worker has had two turns since the last step, and since the host last changed
// between acting, waiting and polling (host_threads.c).
//
// A thread stands still (watchdog.c): no event and no logged access while its OS thread uses processor time. After
// 0.2 s it is interrupted every 10 ms. If it is found several times in a state that it had before, the same registers,
// flags and stack, and has run in between but done nothing, it loops forever. Without that proof it ends after
// SIM_SPIN_LIMIT. Without hooks nothing is logged: such a thread lets others run when three interrupts in a row find it
// the same.
//
// A thread goes round a loop that touches memory (repeat.c): there was no step anywhere for 0.5 s of processor time.
// Its state is compared each time its log is full. When a state returns, one round gathers the words that it writes and
// the next compares them: if they are as they were and the thread made only plain accesses, every round will be the
// same.
//
// A volatile read polls (polls.c) if one place reads a word again and its thread has not stored there in between. That
// makes its race with the store a warning. In the run that asks about a race, stores let all other threads go first, so
// that a reader that waits is seen to wait.
//
// The host waits without a call of the API. It looks 65,536 times at one word (host_waits.c), or makes no call for 0.2
// s while the program is idle, or for 5 s in any case (beside.c): what is queued then runs on another thread. When the
// kernel polls too, the host goes on, and the two can answer each other. What a word that one side sets orders for the
// other is kept in host_sets.c (the host sets, kernels look) and host_looks.c (kernels set, the host looks).
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "machine/worker.h"

// What is kept of a block: block->progress.
typedef struct sim_block_progress {
    // By thread: a hash of its registers and stack when it last polled, and at every 32nd poll; how often it did;
    // whether the last hash was the same as one of these; the word, of those that poll.
    uint32_t state_hash[SIM_THREADS], kept_hash[SIM_THREADS];
    uint8_t polls[SIM_THREADS], unchanged[SIM_THREADS];
    sim_polled polled[SIM_THREADS];
    uint32_t spinning[SIM_WARPS];    // lanes that poll, until they are woken
    uint32_t warps_spinning;         // warps that have some
    uint64_t steps, round_steps;     // now, and at the last round of polling
    uint64_t at_work, round_at_work; // polls of threads that may be doing something else
    int idle_rounds;                 // rounds of polling without a step
    int met_rounds, round_ended;     // those in which threads only met, in this turn; threads that had ended by then
    int ended_before;                // threads that had ended at the last step for that reason
} sim_block_progress;

// States of a thread that was interrupted again and again.
enum { SIM_SEEN_STATES = 256 };
typedef struct sim_seen {
    uint64_t events, acts, block, launch;
    const uint64_t *log;
    int thread;
    unsigned count, again; // again: how many times a state was one of these
    double time;           // of the worker's processor, when the last was added
    uint64_t state[SIM_SEEN_STATES];
} sim_seen;

// Words that the current thread has looked at by volatile reads, and from where (polls.c).
enum { SIM_LOOKED_WORDS = 32 }; // words times places, of which one thread may be polling several in turn
typedef struct sim_looked {
    uint32_t block;
    int thread;
    unsigned count, next;
    uintptr_t address[SIM_LOOKED_WORDS]; // 0: forgotten
    unsigned site[SIM_LOOKED_WORDS];
} sim_looked;

// What is kept of a worker: worker->progress.
typedef struct sim_worker_progress {
    atomic_uint_fast64_t events, steps; // written by the worker alone
    uint64_t at_work;
    pthread_t os_thread;
    // While blocks only poll: how often nothing was done; since when there was no step, or no sign of work.
    unsigned idle_count;
    double idle_since, polling_since;
    uint64_t idle_steps, idle_at_work;
    // Of the thread that the watchdog interrupts: its time is up; what it was like, and how often in a row; steps, and
    // since when there are that many.
    volatile bool timed_out;
    uint64_t interrupted_hash;
    int interrupted_alike;
    uint64_t interrupted_steps;
    double interrupted_since;
    sim_seen seen;
    struct sim_repeat *repeat; // repeat.c's own
    sim_looked looked;
} sim_worker_progress;

// One more, of a counter that only its own worker writes: no locked instruction is needed.
static inline uint64_t sim_progress_count(atomic_uint_fast64_t *counter)
{
    uint64_t count = atomic_load_explicit(counter, memory_order_relaxed) + 1;
    atomic_store_explicit(counter, count, memory_order_relaxed);
    return count;
}

static inline void sim_progress_step(sim_worker *worker)
{
    worker->block->progress->steps++;
    sim_progress_count(&worker->progress->steps);
}

uint64_t sim_progress_of_all(void); // steps of all workers (spin.c)
