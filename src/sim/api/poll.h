// A host that polls: it looks at one word again and again until that changes.
#ifndef SIM_API_POLL_H
#define SIM_API_POLL_H

#include <stdbool.h>
#include <stdint.h>

enum { SIM_POLLING = 1 << 16 }; // looks at one word: after so many the host waits for it

// Called by the watch when host code uses a word outside the card's range through volatile or by an atomic.
void sim_api_host_polls(uintptr_t address, bool write);
// The host uses a word while another thread may be running what is queued. `looks`: it only looks, through volatile or
// by an atomic.
void sim_poll_meanwhile(uintptr_t address, bool looks);
// The host has polled for long: what is queued runs in another thread. Without the lock.
void sim_poll_let_run(void);

#endif
