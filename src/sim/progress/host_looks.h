// Words by which the host waits for kernels in its own way: it looks at them through volatile or by atomics until it
// sees a kernel's sign.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The host is about to look at a word. `settled`: with the API's lock, so nothing runs now; without it a kernel may be
// about to give its sign.
void sim_looks_add(uintptr_t address, bool settled);
// The host uses memory in another way, with the lock: what this thread looked at before has been seen.
void sim_looks_end(void);
// Kernel `number` has run, in this thread. With the lock.
void sim_looks_ran(uint64_t number);
// Whether the host has looked at a word since this launch, or one that waited for it, has written there. With the lock.
bool sim_looks_saw(uint64_t number);
