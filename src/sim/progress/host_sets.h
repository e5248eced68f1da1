// Words that the host sets, through volatile or by atomics, while work is queued, and the looks of kernels at them:
// what the host did before it set a word comes before what a kernel does behind its look.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/worker.h"

// How often the host has set a word so far: the time of what it does in between. From any thread, as the next: a kernel
// that waits for the word may be running, with the API's lock.
uint64_t sim_host_sets(void);
void sim_host_set(uintptr_t address);
// Whether all that launch `number` has done to the byte (what it has written; with `reads`, what it has read, too) came
// behind a look, its own or one of a launch before it, at a word that the host has set after `since`. When nothing
// runs.
bool sim_host_set_orders(uintptr_t address, bool reads, uint64_t number, uint64_t since);

// The current thread has looked at a word, through volatile or by an atomic. certain: no fence has to follow.
void sim_host_set_looked(sim_worker *worker, uintptr_t address, bool certain);
