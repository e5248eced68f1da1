// What is queued in streams runs when the program waits for it. A program may wait in ways that the runtime does not
// see: then it runs here, beside the program. `run` runs all that is queued.
#pragma once

#include <stdbool.h>

// Starts a thread that runs what is queued when the program has made no call for long; once.
void sim_beside_watch_over(bool (*queued)(void), void (*run)(void));
// Lets another thread run what is queued, now. Returns when that is done, or when a kernel goes on for so long without
// getting on, or a function of the host for so long, that it may be waiting for what this thread does next.
void sim_beside_run(void (*run)(void));
bool sim_beside_under_way(void); // another thread runs what is queued
// A function of the host that is queued begins or ends.
void sim_beside_host_function(bool begins);
// Whether the thread that has called sim_beside_run goes on meanwhile, or polls. Of other threads it is not taken.
void sim_beside_awake(bool awake);
