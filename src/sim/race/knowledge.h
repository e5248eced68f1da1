// What a thread has learned of others through flags and locks: for each block it has heard of, a barrier interval,
// before which everything of that block is known to have happened, and the threads of that interval with their clocks.
// A value is shared and counted; it only changes while it has one owner.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct sim_fact {
    uint32_t block; // serial number over the program
    uint32_t stamp;
    uint32_t thread;
    uint32_t clock;
} sim_fact;

typedef struct sim_knowledge {
    uint32_t references, count, room;
    sim_fact fact[]; // by block, then thread; all facts of one block have one stamp
} sim_knowledge;

sim_knowledge *sim_knowledge_keep(sim_knowledge *knowledge); // one more reference; NULL stays NULL
void sim_knowledge_drop(sim_knowledge *knowledge);
// A new reference to the union. NULL knows nothing, and is also what is returned when there is no memory.
sim_knowledge *sim_knowledge_join(sim_knowledge *a, sim_knowledge *b);
// From facts in the right order.
sim_knowledge *sim_knowledge_make(const sim_fact *facts, uint32_t count);
bool sim_knowledge_has(const sim_knowledge *knowledge, uint32_t block, uint32_t stamp, uint32_t thread, uint32_t clock);
bool sim_knowledge_same(const sim_knowledge *a, const sim_knowledge *b);
// *held = *held joined with more.
void sim_knowledge_learn(sim_knowledge **held, sim_knowledge *more);
void sim_knowledge_forget(sim_knowledge **held, uint32_t block); // without what is known of that block
