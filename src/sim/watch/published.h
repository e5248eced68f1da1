// Pointers to shared memory that a block has stored in global memory, and pointers to local memory that a thread has
// stored in either.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/worker.h"
#include "race/race.h"
#include "race/site.h"

enum { SIM_PUBLISHED = 64 };

typedef struct sim_published_word {
    const sim_block *block; // that has stored it
    uintptr_t word, value;
    uintptr_t away; // what the word holds while the block is away, or while another thread runs; 0: it is not
    uintptr_t pc;
    int thread; // whose local memory it points to; -1: to shared memory
} sim_published_word;

// Of a worker's blocks that have not ended.
struct sim_published {
    sim_published_word at[SIM_PUBLISHED];
    unsigned count;
};

void sim_published_begin(sim_worker *worker); // a block
// Rows of a site in which there was no pointer: numbers are stored where numbers were, so that after so many nobody
// looks there any more.
enum { SIM_PUBLISHED_LOOKS = 255 };
extern uint8_t sim_published_none[SIM_SITES];
// Of a site that is still looked at.
void sim_published_row(sim_worker *worker, const sim_row *row);
void sim_published_park(sim_worker *worker);
void sim_published_resume(sim_worker *worker);
void sim_published_end(sim_worker *worker);

// Whether an address is in shared memory of another block than the current one, or in local memory of another thread:
// where it is in this block's shared memory, 0: in local memory, and where the pointer was stored, 0: not known.
typedef struct sim_foreign {
    uintptr_t address, stored_at;
} sim_foreign;
bool sim_published_find(const sim_worker *worker, uintptr_t address, sim_foreign *found);
