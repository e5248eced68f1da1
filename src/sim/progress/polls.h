// Which volatile reads poll: a thread that waits for another's store looks at the same word from the same place in the
// program again and again, and does not store there itself meanwhile. Only such a read may race with the store that it
// waits for.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/worker.h"

// The current thread is about to read or write a volatile word. Returns whether it has looked at that word from there
// before, and has not stored there since, as far as is known.
bool sim_polls_read(sim_worker *worker, unsigned site, uintptr_t address);
// Returns how many turns the thread lets others go first. It does where this run asks about the site: a read that finds
// what it waits for at its first look is not seen to poll.
int sim_polls_write(sim_worker *worker, unsigned site, uintptr_t address);
