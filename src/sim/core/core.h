// What core/ offers the API.
#pragma once

#include "machine/worker.h"

// Runs a whole launch and returns its cudaError_t. Called on one host thread at a time.
int sim_run(sim_launch_state *launch);
// Ends the current CUDA thread; the launch ends with this cudaError_t.
void sim_thread_fail(int error) __attribute__((noreturn));
// sim_unsupported for a function of the runtime, which was called from `pc`.
void sim_unsupported_at(const char *feature, const char *instead, uintptr_t pc) __attribute__((noreturn));
// The chip's, for %smid; set by the API.
extern unsigned sim_multiprocessors;
// Bytes that malloc in kernels may have at a time; only there in programs that use it (heap.c).
extern size_t sim_heap_limit __attribute__((weak));
