// Pointers to shared memory that a block has stored in global memory.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/worker.h"
#include "race/race.h"

enum { SIM_PUBLISHED = 64 };

typedef struct sim_published_word {
    const sim_block *block; // that has stored it
    uintptr_t word, value;
    uintptr_t away; // what the word holds while the block is away; 0: it is not
    uintptr_t pc;
} sim_published_word;

// Of a worker's blocks that have not ended.
struct sim_published {
    sim_published_word at[SIM_PUBLISHED];
    unsigned count;
};

void sim_published_begin(sim_worker *worker); // a block
// A warp has stored words of eight bytes or more.
void sim_published_row(sim_worker *worker, const sim_row *row);
void sim_published_park(sim_worker *worker);
void sim_published_resume(sim_worker *worker);
void sim_published_end(sim_worker *worker);

// Whether an address is in shared memory of another block than the current one: where that is in this one's, and where
// the pointer was stored, 0: not known.
typedef struct sim_foreign {
    uintptr_t address, stored_at;
} sim_foreign;
bool sim_published_find(const sim_worker *worker, uintptr_t address, sim_foreign *found);
