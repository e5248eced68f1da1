// What was left out: what a program's end cut off, and what came after a kernel that ended in a fault. On a card every
// later call fails, here too, so mistakes that come after it cannot be found in the same run. The report says so.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// A kernel has broken the device. The first one counts.
void sim_stopped_at(const char *kernel);
// And has not come to its end: the last launch that failed.
void sim_stopped_early(bool early);
// Queued work that is not run, and a call that is refused, because of it.
void sim_stopped_launch(void);
void sim_stopped_copy(void);
void sim_stopped_call(const char *function);
// The program has ended while so many kernels were queued or under way.
void sim_stopped_left(unsigned long long kernels);

// For the report: one sentence about what was not checked; "" where nothing was left out.
void sim_stopped_text(char *text, size_t bytes);
// Whether this kernel was stopped: how often it made another mistake depends on how far its other blocks had come.
bool sim_was_stopped(const char *kernel);
