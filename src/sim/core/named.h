// Named barriers; only in programs that have them.
#pragma once

#include "machine/worker.h"

// What a block keeps of them.
typedef struct sim_named_state {
    struct sim_named *barriers; // NULL: none used yet on this worker in the block's place
    bool used;                  // by this block
} sim_named_state;

// A thread has ended: named barriers that wait for all threads may be complete.
extern void (*sim_named_ended)(sim_worker *worker);
