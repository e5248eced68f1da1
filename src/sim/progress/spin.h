// Threads that poll, and threads that are interrupted because they seem to run forever.
#pragma once

#include "progress/progress.h"

void sim_spin_block_begins(sim_block_progress *block, int threads, int warps);

uint64_t sim_spin_hash(uint64_t seed, const uint64_t *from, const uint64_t *end); // of no more than a few frames
uint64_t sim_spin_hash_all(uint64_t seed, const uint64_t *from, const uint64_t *end);

// The current thread may be polling: it is where headers call sim_spin. state_hash: of its registers and stack, if
// these are known. True: it lets others run now; *surely: it does nothing but poll.
bool sim_spin_polls(sim_worker *worker, uint32_t state_hash, bool known, bool *surely);
// The current thread polls this word, at `pc`, and stops until the others have had their turn.
void sim_spin_stops(sim_worker *worker, uintptr_t pc, bool surely, sim_polled word);

// No thread of the block is ready, so many have ended, some poll. True: they try again; false: that has been done often
// enough.
bool sim_spin_again(sim_block_progress *block, int ended);
// From now on the block's next round of polling is its last before other blocks have a turn.
void sim_spin_hurry(sim_block_progress *block);
// Nothing but polling goes on on this worker, which has so many blocks. True: it has been so for too long, anywhere.
bool sim_spin_endless(sim_worker *worker, unsigned blocks);
void sim_spin_report(sim_worker *worker);
// Rises while all blocks of a launch that have started poll in vain: they may wait for the host. From any thread.
uint64_t sim_spin_idle(void);

// The current thread was interrupted in this state. True: it has been in it before, and nothing happened since.
bool sim_spin_repeats(sim_worker *worker, uint64_t state);
// It was interrupted, and found to be like this. True: so often in a row that it must be polling. (Without hooks.)
bool sim_spin_alike(sim_worker *worker, uint64_t hash);
// Threads of this worker have been interrupted for too long a time in which nobody has come nearer the end.
bool sim_spin_interrupted_long(sim_worker *worker);
