// Running what is queued for a host that waits without a call of the API.
#ifndef SIM_RUN_QUEUED_H
#define SIM_RUN_QUEUED_H

#include <stdbool.h>
#include <stdint.h>

// Something is queued: it runs when the program has made no call for long.
void sim_run_queued_later(void);
// The host has polled for long: what is queued runs in another thread. Without the lock.
void sim_run_queued_now(void);
// Host code uses a word outside the card's memory through volatile or by an atomic.
void sim_run_queued_if_polled(uintptr_t address, bool write);

#endif
