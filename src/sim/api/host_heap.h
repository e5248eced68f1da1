// The host's own heap: which block of malloc or new an address lies in, so that a copy past its end is found, a copy
// that runs when its block is gone, and free or delete of the card's memory before the C library gives up over it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_host_block {
    uintptr_t start;
    size_t bytes;
    uint64_t serial; // of its allocation; 0: no block is known
} sim_host_block;

// The live block that holds `address`, or ends there; false: none that is known.
bool sim_host_heap_find(uintptr_t address, sim_host_block *block);
// Whether a block that was found is still there; if not, *freed_at is where it was freed, 0: not known.
bool sim_host_heap_lives(const sim_host_block *block, uintptr_t *freed_at);
