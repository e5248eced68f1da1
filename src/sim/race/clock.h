// Who has met whom. A block barrier starts a new interval for the whole block: its stamp, a number that rises over the
// program. Within an interval threads may meet more finely: lanes in __syncwarp (a vector clock for each lane of the
// warp), and any two threads through a fence and an atomic (knowledge.h).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/worker.h"
#include "race/cell.h"
#include "race/knowledge.h"
#include "race/shadow.h"

enum { SIM_NAMED_BARRIERS = 16 };

typedef struct sim_warp_clock {
    uint16_t seen[SIM_LANES][SIM_LANES]; // [lane][other]: the last clock of `other` that `lane` has met
} sim_warp_clock;

// A thread's fence, waiting for the atomic that makes it visible.
typedef struct sim_fenced {
    sim_knowledge *block, *device; // what a release at that scope hands on
} sim_fenced;

// What a thread knows by an atomic or volatile read without a fence behind it is not certain yet (unfenced.h).
typedef struct sim_unfenced {
    bool any;              // known[] has more than what is certain; else nothing of the rest is in use
    bool narrowly;         // a fence of block scope stood there, too narrow
    uint16_t site, thread; // the read that brought it, and whose it was
    sim_knowledge *firm;   // what is certain
    sim_knowledge *near;   // and what a fence of block scope would make so
} sim_unfenced;

struct sim_block_clock {
    uint32_t serial; // of the block, over the program
    uint32_t stamp;  // of the current interval
    uint16_t clock[SIM_THREADS];
    uint32_t warp_stamp[SIM_WARPS]; // the interval in which warp[] below is valid
    sim_warp_clock *warp[SIM_WARPS];
    bool learned; // somebody has known[] or fenced[]
    sim_knowledge *known[SIM_THREADS];
    sim_fenced fenced[SIM_THREADS];
    int unfenced_threads; // those with any of it
    sim_unfenced unfenced[SIM_THREADS];
    sim_region shared;                          // of a parked block: its shared memory's shadow
    sim_knowledge *arrived[SIM_NAMED_BARRIERS]; // what came before bar.arrive at each, for those who wait there
    uint32_t awaits;                            // launch->awaits: who knows of this block has waited for it
    uint32_t passed;                            // warps all of whose threads have waited
    uint8_t left[SIM_WARPS];                    // threads of a warp that have not
    bool waited, triggered_early;               // some thread has waited; some has let the next launch begin without
    struct sim_block_clock *next_free;
};

// Stamps below are ordered before everything that runs now.
extern uint32_t sim_clock_floor;
// The same for warps that have passed the wait for the launch before.
extern uint32_t sim_clock_floor_passed;
// The first stamp of the launch that runs now.
extern uint32_t sim_clock_begun;

// A launch has had more intervals than there are stamps: the rest of it cannot be judged.
extern bool sim_clock_spent;

bool sim_clock_start(void); // once; false: no address space
// Begins to count from the first stamp again if few are left. True: everything that shadow memory holds is to be
// forgotten, and so counts as ordered before the next launch.
bool sim_clock_restart(void);
void sim_clock_launch_begin(sim_launch_state *launch);
sim_block_clock *sim_clock_block_begin(const sim_block *block);
void sim_clock_block_end(sim_block_clock *clock);
void sim_clock_barrier(sim_block_clock *clock);
// Those who wait at named barrier `id` have met, and take over what threads have arrived there with.
void sim_clock_barrier_some(sim_block_clock *clock, int id, const uint32_t members[SIM_WARPS]);
void sim_clock_barrier_arrive(sim_block_clock *clock, int id, int thread); // bar.arrive
void sim_clock_barrier_grid(void);
void sim_clock_warp(sim_block_clock *clock, int warp, uint32_t mask);

// What `thread` would tell another now: all it knows, and itself. A new reference.
sim_knowledge *sim_clock_tell(sim_block_clock *clock, int thread);
// Later accesses of the thread are not part of what it has told.
void sim_clock_advance(sim_block_clock *clock, int thread);

// Whether the access (stamp, thread, clock) happened before what `me` of this block does now.
bool sim_clock_ordered(const sim_block_clock *clock, int me, uint32_t stamp, unsigned thread, unsigned at, bool shared);
// The same, had `me` learned no more than `known` through flags and locks.
bool sim_clock_ordered_by(const sim_block_clock *clock, int me, uint32_t stamp, unsigned thread, unsigned at,
                          bool shared, const sim_knowledge *known);
// The launch with the block `serial`, which may run beside this one, had ended for a thread that knows `known`.
bool sim_clock_launch_ended(const sim_block_clock *clock, const sim_knowledge *known, uint32_t serial);
// `thread` waits for the launch before its own in the stream, or lets the one after begin.
void sim_clock_dependency_wait(sim_block_clock *clock, int thread);
void sim_clock_dependency_trigger(sim_block_clock *clock, int thread);
// `thread` launches a kernel: sets what of the launch's origin says what is ordered before that kernel (launches.h).
void sim_clock_child(sim_block_clock *clock, int thread, struct sim_origin *origin);
uint32_t sim_clock_block_of(uint32_t stamp); // the serial number of the block that had this stamp

static inline uint64_t sim_clock_word(const sim_block_clock *clock, int thread)
{
    return (uint64_t)clock->stamp << SIM_STAMP_SHIFT | (uint64_t)clock->clock[thread] << SIM_CLOCK_SHIFT |
           (uint64_t)thread << SIM_THREAD_SHIFT;
}
