// Memory that host code has used while the device had not finished with it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "api/stream.h"

// Host code touches memory of the card that it has not waited for. True: it looks at the same place again and again. It
// waits for the device in its own way, so the device must run.
bool sim_touch_unwaited(uintptr_t address, size_t bytes, int write, bool plain, uintptr_t pc);
// A kernel is about to run: what the host has written while it was queued is there now.
void sim_touch_runs(const sim_operation *operation);
// An operation has run: did it use what the host had touched while it was queued?
void sim_touch_ran(const sim_operation *operation, uint64_t number, const char *kernel, uintptr_t launched_at);

// A stream runs a function of the host: it begins, uses pinned or managed memory, uses any word through volatile or by
// an atomic, has ended.
void sim_touch_function_begins(void);
void sim_touch_by_function(uintptr_t address, size_t bytes, bool write);
void sim_touch_function_talks(void);
void sim_touch_function_ran(const sim_operation *operation);
