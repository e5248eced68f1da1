// What the hooks ask of the scheduler. A hook runs in the middle of a thread, on its stack, and may have to stop it;
// the scheduler is above the watch, and tells it here what to call.
#pragma once

#include "machine/worker.h"

typedef struct sim_scheduler_calls {
    // Ends the current CUDA thread; the launch ends with this cudaError_t.
    __attribute__((noreturn)) void (*fail)(int error);
    // The current lane's log is full: it stops (SIM_LOG_FULL) until sim_watch_warp_stopped lets it go on.
    void (*log_full)(sim_worker *worker);
    // The current thread polls, at `pc`: all others that can run do so before it goes on. surely: it does nothing else.
    // word: what it polls; NULL: what it read last.
    void (*polls)(sim_worker *worker, uintptr_t pc, bool surely, const sim_polled *word);
    // The current thread lets others go first, other blocks too, and then goes on by itself.
    void (*delays)(sim_worker *worker, uintptr_t pc);
    uintptr_t (*stack_top)(sim_worker *worker); // of the current thread
} sim_scheduler_calls;

extern const sim_scheduler_calls *sim_scheduler; // set before the first thread runs
