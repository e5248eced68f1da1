// Kernels that kernels launch (dynamic parallelism, by the rules of CUDA 12). No thread can wait for its children, so a
// grid's children run when it has ended: those of a block in the order in which it launched them, whatever streams it
// named, each with its own children; then those in cudaStreamTailLaunch. What CUDA orders among them is for the race
// detector to judge (race/launches.h).
#pragma once

#include <stdint.h>

#include "machine/worker.h"
#include "sim/runtime_api.h"

// A launch by the current thread of a kernel. Takes the kernel's closure over, whatever happens.
cudaError_t sim_child_launch(sim_worker *worker, const sim_config *config, const sim_kernel *kernel, uintptr_t pc);
// Makes this the last error of the thread, and returns it.
cudaError_t sim_child_fail(const sim_worker *worker, cudaError_t error);
// What cudaGetLastError gives in a kernel.
cudaError_t sim_child_error(const sim_worker *worker, bool reset);
// A stream that a kernel creates: a name to tell launches by.
cudaError_t sim_child_stream(cudaStream_t *stream);
// Runs a launch and then its children, theirs, and so on.
cudaError_t sim_run_with_children(sim_launch_state *launch);
