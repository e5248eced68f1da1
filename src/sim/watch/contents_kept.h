// What memory held before a launch and after it. A kernel that adds to what it finds, in memory that the program resets
// before each launch, gives the same result each time: the result is put back, and the kernel is not run again.
#ifndef SIM_WATCH_CONTENTS_KEPT_H
#define SIM_WATCH_CONTENTS_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_contents {
    uint8_t *before, *after; // NULL: not kept
    size_t bytes;
} sim_contents;

// Copies of what is at `start`. Keeps nothing if all copies together would take too much memory.
void sim_contents_before(sim_contents *contents, uintptr_t start, size_t bytes);
void sim_contents_after(sim_contents *contents, uintptr_t start);
bool sim_contents_are_before(const sim_contents *contents, uintptr_t start, size_t bytes);
void sim_contents_restore(const sim_contents *contents, uintptr_t start); // what was there after the launch
void sim_contents_free(sim_contents *contents);

#endif
