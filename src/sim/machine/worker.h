// The machine's moving parts: a worker (one OS thread) runs blocks; a block's CUDA threads are fibers of that worker.
// Everything here is touched by its own worker only, unless it says otherwise.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/abi.h"

enum { SIM_FAULTS = 32 };
enum { SIM_LANES = 32, SIM_WARPS = 32, SIM_THREADS = SIM_LANES * SIM_WARPS };

typedef struct sim_worker sim_worker;
typedef struct sim_block sim_block;
typedef struct sim_block_clock sim_block_clock; // race/: what the race detector knows of a block

// Why a thread does not run.
enum { SIM_RUNNABLE, SIM_AT_BARRIER, SIM_AT_NAMED, SIM_AT_GRID, SIM_IN_WARP, SIM_LOG_FULL, SIM_SPINNING, SIM_ENDED };

// One launch while it runs.
typedef struct sim_launch_state {
    const sim_kernel *kernel;
    sim_config config;
    uint64_t blocks;                 // in the grid
    int threads, warps;              // of a block
    uintptr_t launched_at;           // return address of the launch
    uint64_t number;                 // 1, 2, ... over the program; of a launch by a kernel, that of the host's launch
    const struct sim_origin *origin; // of a launch by a kernel (race/launches.h); NULL: the host made it
    unsigned uses;                   // what its kernel can reach (machine/options.h: SIM_USES_...)
    uint32_t first_serial;           // blocks are numbered first_serial + their linear index over the program (race/)
    uint32_t awaits; // of a launch that has begun beside the one before it: stands for that one's end (race/); else 0
    uint64_t findings_before; // it began (watch/repeated.c)
    uint64_t watched;         // blocks in which every access was watched; known at the end
    bool failed;              // a fatal finding: no further block starts (atomic access)
    // Places of wrong accesses that the launch has survived so far (watch/survive.c; atomic access).
    uintptr_t faults[SIM_FAULTS];
    int error;                      // the cudaError_t it leaves behind
    struct sim_launch_trace *trace; // watch/'s own; NULL: it is not traced
} sim_launch_state;

struct sim_block {
    sim_launch_state *launch;
    uint64_t number; // linear index in the grid
    unsigned index[3];
    bool faulted;               // a thread has gone on after a wrong access (watch/survive.c)
    uintptr_t fault_at;         // return address of the first such read; 0: there was none
    uint32_t misled[SIM_WARPS]; // lanes by warp that such a read, their own or one before a meeting, may mislead
    bool unwatched;             // of its accesses only the addresses are checked (core/sample.c)
    bool logged;                // an unwatched one: its reads are in the logs all the same (watch/ranges.h)
    int ended, waiting;         // threads ended; threads at the block barrier
    // Lanes by warp.
    uint32_t live[SIM_WARPS], ready[SIM_WARPS], started[SIM_WARPS], full_log[SIM_WARPS];
    uintptr_t waits_at[SIM_THREADS];     // return address of the call a thread waits in
    uint8_t state[SIM_THREADS];          // SIM_RUNNABLE, ...
    sim_block_clock *clock;              // race/'s own
    struct sim_block_branches *branches; // watch/'s own
    struct sim_block_trace *trace;       // watch/'s own; NULL: it is not traced
    struct sim_block_progress *progress; // progress/'s own
    int *launch_errors;                  // by thread: the last error of its launches of kernels; NULL: there was none
};

// The word that a thread polls, and how it looks at it.
typedef enum sim_look { SIM_LOOK_UNKNOWN, SIM_LOOK_READ, SIM_LOOK_VOLATILE, SIM_LOOK_ATOMIC } sim_look;
typedef struct sim_polled {
    uintptr_t address; // 0: not known
    uint8_t bytes, look;
} sim_polled;

// A log holds this many accesses of a lane; then the lane waits for its warp. The gap between logs keeps 32 of them
// from falling into the same cache sets.
enum { SIM_LOG_ENTRIES = 128, SIM_LOG_GAP = 8, SIM_LOG_STRIDE = SIM_LOG_ENTRIES + SIM_LOG_GAP };

struct sim_worker {
    // For the hooks: the log of the current lane.
    uint64_t *log_next, *log_end;
    // For a change of lanes: all logs, NULL where nothing is watched; entries of each; whether those of the current
    // lane end at log_next; whether a store of the current thread is to be looked at when it stops (race/values.c).
    uint64_t (*logs)[SIM_LOG_STRIDE];
    uint32_t *log_tails;
    bool log_entered, settles;
    bool lends;             // a thread of the block has stored a pointer to a variable of its own (watch/published.h)
    struct sim_slot *slots; // watch/: by site
    // Who runs: the current thread of the current block. warp = thread / 32, lane = thread % 32.
    int thread, warp, lane;
    int number; // 0 .. workers - 1
    sim_block *block;
    sim_launch_state *launch;
    uint64_t acts;       // see sim_thread_acts
    volatile bool trace; // nothing has come nearer its end for long: is a loop going round in the same state?
    uint64_t epoch;      // race/: the current thread's time, ready to be stored
    // Address ranges of this worker.
    uintptr_t stacks_lo, stacks_hi;             // all fiber stacks: local memory
    uintptr_t thread_local_lo, thread_local_hi; // the module's TLS segment: __shared__ and the index variables
    uintptr_t dynamic_lo;                       // extern __shared__, launch->config.shared bytes
    struct sim_watch *watch;                    // watch/'s own
    struct sim_race *race;                      // race/'s own
    struct sim_worker_progress *progress;       // progress/'s own
};

// The worker whose CUDA thread runs now on this OS thread; NULL in host code.
extern __thread sim_worker *sim_current;

// True when the program was built with hooks and checking was asked for; set by the watch.
extern bool sim_watching;

enum { SIM_WORKERS_MOST = 256 };
extern int sim_workers;                // OS threads that run blocks
extern int sim_workers_taking_part;    // in the current launch
sim_worker *sim_worker_at(int number); // NULL before the first launch
void sim_worker_add(int number, sim_worker *worker);

// The current thread has done something that no log tells of, and that others may have a part in: it does not merely go
// round a loop.
static inline void sim_thread_acts(sim_worker *worker)
{
    worker->acts++;
}
