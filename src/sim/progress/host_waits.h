// A host that waits in its own way: it looks at one word again and again until that changes.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { SIM_POLLING = 1 << 16 }; // looks at one word: after so many the host waits for it

// This thread uses a word of the host's own memory through volatile or by an atomic. True: it has looked there so
// often, with no call by any thread since its own last one, that it waits for the word.
bool sim_host_waits_for(uintptr_t address, bool write);
// The host uses a word while another thread may be running what is queued. `looks`: it only looks, through volatile or
// by an atomic.
void sim_host_waits_beside(uintptr_t address, bool looks);
// A kernel has failed and nothing runs any more: what the host polls for never comes. True: it has polled for too long.
bool sim_host_waits_in_vain(void);
