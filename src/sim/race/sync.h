// Order between single threads: a fence followed by an atomic (or volatile) write hands on what the thread did before
// the fence; an atomic (or volatile) read of that word by another thread takes it over. The scope is the narrower of
// the two.
#ifndef SIM_SYNC_H
#define SIM_SYNC_H

#include <stdint.h>

#include "machine/worker.h"

void sim_sync_launch_begin(void);
// The current thread is about to access `address` atomically, at this site.
void sim_sync_atomic(sim_worker *worker, unsigned site, uintptr_t address);
void sim_sync_volatile(sim_worker *worker, unsigned site, uintptr_t address);
void sim_sync_fence(sim_worker *worker, int scope);

#endif
