// Sequence locks whose fences are missing. A writer stores a number, the data, and the number again; a reader reads the
// number, the data, and the number again, and keeps the data if the number has not changed. All of them are atomics, so
// none of it is a race; but unless the first look acquires, a fence stands before the second one, and the writer
// releases likewise, the data may be read, or become visible, outside of the two.
#pragma once

#include <stdint.h>

#include "machine/worker.h"

void sim_sequence_launch_begin(void);
// The current thread makes an atomic access; executes a fence.
void sim_sequence_note(const sim_worker *worker, unsigned site, uintptr_t address);
void sim_sequence_fence(const sim_worker *worker);
void sim_sequence_report(void); // at the end
