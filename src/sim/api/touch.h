// Host code that uses memory of the device, or memory that the device has not finished with.
#ifndef SIM_API_TOUCH_H
#define SIM_API_TOUCH_H

#include <stdbool.h>
#include <stdint.h>

#include "api/stream.h"

// Host code uses memory of the card. `plain`: neither volatile nor atomic, so no way to talk with a kernel that runs.
void sim_touched(uintptr_t address, size_t bytes, bool write, bool plain, uintptr_t pc);
// A kernel is about to run: what the host has written while it was queued is there now.
void sim_touch_runs(const sim_operation *operation);
// An operation has run: did it use what the host had touched while it was queued?
void sim_touch_ran(const sim_operation *operation, uint64_t number, const char *kernel, uintptr_t launched_at);

#endif
