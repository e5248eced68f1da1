// Whether racing stores stored the same value: asked in a second run, about the places that SIM_VALUES names.
#pragma once

#include "machine/worker.h"

// The current thread is about to store these bytes, from a site whose values are asked for, and does nothing else
// before: the value is read once it is there.
void sim_values_store(sim_worker *worker, unsigned site, uintptr_t address, size_t bytes);
void sim_values_settle(sim_worker *worker);          // the store has been made
bool sim_values_equal(unsigned one, unsigned other); // after the run: whether racing stores were seen to agree
