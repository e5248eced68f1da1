// The live allocations of a device: what heddle_free checks its pointer against, and what closing a device warns about.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle/status.h"

typedef struct heddle_allocation {
    void *memory;
    size_t bytes;
    bool pinned;
} heddle_allocation;

typedef struct heddle_allocations {
    pthread_mutex_t lock;
    heddle_allocation *list; // by address
    size_t count, room;
} heddle_allocations;

void heddle_allocations_init(heddle_allocations *allocations);
void heddle_allocations_destroy(heddle_allocations *allocations);
heddle_status heddle_allocations_add(heddle_allocations *allocations, heddle_allocation allocation);
// Takes the allocation that starts at `memory` off the list. HEDDLE_INVALID says what the pointer is instead.
heddle_status heddle_allocations_remove(heddle_allocations *allocations, void *memory, bool pinned,
                                        heddle_allocation *allocation);
// Whether all of `bytes` at `memory` are pinned.
bool heddle_allocations_are_pinned(heddle_allocations *allocations, const void *memory, size_t bytes);
// Takes any one off the list; false when it is empty.
bool heddle_allocations_pop(heddle_allocations *allocations, heddle_allocation *allocation);
