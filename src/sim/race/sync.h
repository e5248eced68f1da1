// Order between single threads: a fence followed by an atomic (or volatile) write hands on what the thread did before
// the fence; an atomic (or volatile) read of that word by another thread takes it over. The scope is the narrower of
// the two.
#pragma once

#include <stdint.h>

#include "machine/worker.h"

void sim_sync_launch_begin(void);
// The current thread is about to access `address`, at a site that is atomic or volatile. True: that may order threads.
// What the thread did so far is then judged by what it knew so far, before sim_sync_end.
bool sim_sync_begin(sim_worker *worker, unsigned site, uintptr_t address);
void sim_sync_end(sim_worker *worker, unsigned site, uintptr_t address);
// A fence, by a thread of a block with a clock; what it did so far has been judged. sides: SIM_ATOMIC_ACQUIRE,
// SIM_ATOMIC_RELEASE or both.
void sim_sync_fence(sim_worker *worker, int scope, int sides);
