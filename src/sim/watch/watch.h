// The watch: what happens at every memory access of a kernel. The compiler calls a hook before each access (hooks.c);
// the hook checks bounds and writes the access into the log of its lane; when all lanes of a warp have come to a stop,
// merge.c lays the 32 logs side by side, finds the accesses that a warp makes together, and gives each such row to the
// counters (counters.c) and to the race detector (race/). The scheduler tells the watch when threads stop, meet and
// end.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/worker.h"
#include "memory/memory.h"

// --- called by the scheduler (core/), on the worker's own OS thread -------------------------------------------------

void sim_watch_start(sim_worker *worker); // once for each worker, after its thread runs
void sim_watch_launch_begin(sim_launch_state *launch);
void sim_watch_launch_end(sim_launch_state *launch);
// The current thread of a kernel is about to access these bytes, by a call of the API at `pc`.
void sim_watch_access(uintptr_t address, size_t bytes, bool write, uintptr_t pc);
// The current thread begins to do what is the host's, and ends: what it accesses of the host's memory meanwhile is
// good.
void sim_watch_plays_host(sim_worker *worker, bool begins);
// The current thread launches a kernel; sets in `origin` what is ordered before that.
struct sim_origin;
void sim_watch_child(sim_worker *worker, struct sim_origin *origin);
void sim_watch_block_begin(sim_worker *worker); // worker->block is set, shared memory is this block's
void sim_watch_block_end(sim_worker *worker);
// A resident block gives way to another on this worker (its shared memory is about to be saved), and comes back.
void sim_watch_block_park(sim_worker *worker);
void sim_watch_block_resume(sim_worker *worker);

// Whether the launch would only repeat an earlier one, whose results are still there: then it need not run, and is
// counted. Asked before sim_watch_launch_begin. spent: the earlier one may have left out blocks, because to run it
// again would not watch others either.
bool sim_watch_repeats(sim_launch_state *launch, bool spent);
// Whether these bytes of device memory were set to the same value before and nothing was written to their allocation
// since; and that they are now.
bool sim_repeated_fill_is(uintptr_t to, size_t bytes, unsigned value, unsigned element);
void sim_repeated_fill_end(uintptr_t to, size_t bytes, unsigned value, unsigned element);
void sim_repeated_once(sim_worker *worker); // the current launch may do something else the next time
void sim_repeated_forget(void);             // nothing is known any more of what memory holds
void sim_repeated_never(void);              // kernels may read memory that the watch does not hear of

// The current thread changes: leave before, enter after worker->thread, ->warp and ->lane are set.
#ifdef SIM_WATCH_DOUBLE // tests of core/ are told of each change
void sim_watch_leave(sim_worker *worker);
void sim_watch_enter(sim_worker *worker);
#else
void sim_watch_settle(sim_worker *worker);
void sim_watch_lends(sim_worker *worker, bool enters);
static inline void sim_watch_leave(sim_worker *worker)
{
    if (!worker->log_entered)
        return;
    worker->log_tails[worker->lane] = (uint32_t)(worker->log_next - worker->logs[worker->lane]);
    worker->log_entered = false;
    if (worker->settles || worker->block->trace)
        sim_watch_settle(worker);
    if (worker->lends)
        sim_watch_lends(worker, false);
}
static inline void sim_watch_enter(sim_worker *worker)
{
    if (!worker->logs)
        return;
    uint64_t *log = worker->logs[worker->lane];
    worker->log_next = log + worker->log_tails[worker->lane];
    worker->log_end = log + SIM_LOG_ENTRIES;
    worker->log_entered = true;
    if (worker->lends)
        sim_watch_lends(worker, true);
}
#endif
// The worker's current warp has no lane left that can run, or the scheduler is about to run another warp: the logs are
// merged. Returns the lanes of block->full_log[warp] that may run again because their logs have room.
uint32_t sim_watch_warp_stopped(sim_worker *worker);

// Accesses of the current launch that have been watched so far; while no block runs.
uint64_t sim_watch_accesses(void);

// The logs of an unwatched block are without its reads, until something needs them. False: they have them.
bool sim_watch_log_all(sim_worker *worker);

// What the current thread read last, if its log still has that.
sim_polled sim_watch_polled(sim_worker *worker);

// All live threads of the block have met: what came before is ordered before what comes after.
void sim_watch_barrier(sim_worker *worker);
// Named barriers: the lanes, by warp, that have waited for each other; and the current thread, which goes on at once.
void sim_watch_barrier_some(sim_worker *worker, int id, const uint32_t members[32]);
void sim_watch_barrier_arrive(sim_worker *worker, int id);
void sim_watch_barrier_grid(sim_launch_state *launch); // every block has arrived; called once, workers stand still
// The lanes of `mask` of the current warp have met in a collective; ordered: it was __syncwarp.
void sim_watch_warp_met(sim_worker *worker, uint32_t mask, bool ordered);

// --- host code ------------------------------------------------------------------------------------------------------

// Host memory was registered with the card: from now on this thread's accesses to it are told of.
void sim_watch_registered(void);
// Host code uses memory at `pc`: kind SIM_READ, ..., an atomic as volatile. Set by the API, where there is one.
extern void (*sim_host_accessed)(uintptr_t address, size_t bytes, unsigned kind, uintptr_t pc);

// --- called by the API (api/, memory/) ------------------------------------------------------------------------------

// Memory of the card (memory/memory.h), with its shadow.
void *sim_watch_allocate(size_t bytes, sim_memory_kind kind, uintptr_t pc, const char *function); // NULL: card full
bool sim_watch_release(uintptr_t start, uintptr_t pc); // false: no live allocation starts there
void sim_watch_retake(uintptr_t start);                // memory of a graph, freed before, comes again
// Reserved addresses at which memory is mapped now, as one allocation (memory/memory.h); and what was mapped there
// goes.
bool sim_watch_expose(uintptr_t start, size_t bytes, uintptr_t pc, const char *function);
void sim_watch_discard(uintptr_t start, size_t bytes);
// A copy or memset by a stream, or what a library's call in a kernel's place has written: contents become initialised,
// or as initialised as their source. 0: from host memory.
void sim_watch_filled(uintptr_t start, size_t bytes);
void sim_watch_copied(uintptr_t to, uintptr_t from, size_t bytes);
// A copy or fill that a stream makes: operation `number` of the program, as launches are numbered. 0: host memory.
// changes: to other bytes than there were. `call`: the function of the API that asked for it, at `pc`.
void sim_watch_copy(uint64_t number, uintptr_t to, uintptr_t from, size_t bytes, bool changes, const char *call,
                    uintptr_t pc);
// The host uses these bytes: where the copy or fill was asked for that has run, but that the host has not waited for;
// 0: none.
uintptr_t sim_watch_copy_unwaited(uintptr_t address, size_t bytes, bool write);
// A call of a library, which runs in a kernel's place, uses memory: `count` runs of `bytes` bytes, `stride` bytes
// apart.
void sim_watch_library(uintptr_t start, size_t bytes, size_t stride, size_t count, bool write);
// A stream gives memory that was allocated in its order, by `call` at `pc`: other streams use it after that.
void sim_watch_given(uint64_t number, uintptr_t start, size_t bytes, const char *call, uintptr_t pc);
// A stream frees memory: what other streams have done with it should have come before.
void sim_watch_free(uint64_t number, uintptr_t start, size_t bytes, uintptr_t pc);
// Whether all of it has been written; *first is the first byte that has not.
bool sim_watch_initialised(uintptr_t start, size_t bytes, uintptr_t *first);
// How many bytes from `first` on, of at most so many, are uninitialised.
size_t sim_watch_unwritten(uintptr_t first, size_t most);

// --- counters, for the report ---------------------------------------------------------------------------------------

typedef struct sim_count {
    uintptr_t pc;
    const char *kernel;
    uint8_t space;                          // 0 global, 1 shared, 2 __device__ and __constant__ variables
    uint8_t kind;                           // 0 load, 1 store, 2 atomic
    uint16_t size;                          // bytes per lane
    uint64_t requests, lanes, units, ideal; // units: 32-byte sectors, or wavefronts in shared memory
    uint32_t worst_units, worst_mask;       // the request with the most units
    uint32_t worst_offset[32];              // bytes from the lowest address of that request
    uint32_t worst_lowest;                  // that lowest address modulo 128
    unsigned worst_block[3], worst_warp;
} sim_count;
void sim_counters_each(void (*visit)(const sim_count *count, void *context), void *context);

// Branches, in a program that was built to count them.
typedef struct sim_branch_count {
    uintptr_t pc;
    const char *kernel;
    uint64_t executions, divergent; // by warps; lanes of one went different ways
} sim_branch_count;
void sim_branch_counts_each(void (*visit)(const sim_branch_count *count, void *context), void *context);
bool sim_branch_counts_in_pieces(void); // a warp made too many to be brought together: executions are too many

typedef struct sim_kernel_count {
    const char *kernel;
    unsigned grid[3], block[3]; // of the first launch
    size_t shared;
    uint64_t launches, accesses, barriers, threads;
    uint64_t repeated;        // launches that were not run, because they repeat an earlier one; part of `launches`
    uint64_t blocks, watched; // of all launches that were run; those of them in which every access was watched
} sim_kernel_count;
// Algorithms of Thrust that run at once are no kernels: they are only counted.
void sim_counters_algorithm(void);
uint64_t sim_counters_algorithms(void);
void sim_kernel_counts_each(void (*visit)(const sim_kernel_count *count, void *context), void *context);
