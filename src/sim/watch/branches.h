// How often warps execute each branch, and how often their lanes go different ways there, in a program that was built
// for it (rewrite/branches.c). branch_place.c knows where a lane is: in which iterations of which loops, in which
// functions. Lanes of a warp that come to a branch at the same such place execute it together, in whatever order they
// run here. branch_counts.c brings them together and counts.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/worker.h"

// A function or loop that a lane is in.
typedef struct sim_branch_frame {
    uint64_t place; // 0: the kernel
    uint64_t begin; // where the lane was when it came here, as a hash
    uint64_t here;  // the same with the iteration
    uint64_t iteration;
    bool is_loop;
} sim_branch_frame;

typedef struct sim_branch_lane {
    sim_branch_frame *frames;
    int depth, room;
    uint32_t made; // executions since the warp's lanes were last brought together
    uint32_t next; // the execution of the warp behind the lane's last: mostly the one it makes next
} sim_branch_lane;

// A branch as a warp executes it.
typedef struct sim_execution {
    uint64_t key;
    uint64_t place;
    uintptr_t pc;
    uint32_t lanes; // that have come to it
    int32_t way;    // of the first of them
    bool diverges;
} sim_execution;

typedef struct sim_branch_warp {
    sim_branch_lane lanes[SIM_LANES];
    sim_execution *executions; // that are not counted yet, as they were first made
    uint32_t count, room;
    uint32_t kept;   // of them, when they were last counted
    uint32_t *table; // of numbers of executions, from 1, by key; 2 * room of them
} sim_branch_warp;

struct sim_block_branches {
    sim_branch_warp *warps[SIM_WARPS]; // NULL: no branch yet
};

// The current thread's warp, and the lane in it; NULL: out of memory.
sim_branch_warp *sim_branch_warp_here(sim_worker *worker);
// The execution with this key, made where there is none yet; NULL: out of memory.
sim_execution *sim_branch_find(sim_worker *worker, sim_branch_warp *warp, sim_branch_lane *lane, uint64_t key);

// A lane that has made this many executions lets the other lanes of its warp come up.
enum { SIM_BRANCH_TURN = 1 << 14 };

// All lanes of the current warp stand still; these go on. What all of them have executed is counted.
void sim_branches_warp_stopped(sim_worker *worker, uint32_t lanes);
// What the block's warps have executed is complete: all threads have met, or the block has ended.
void sim_branches_settle(sim_worker *worker);
void sim_branches_block_end(sim_worker *worker);

static inline uint64_t sim_branch_mix(uint64_t a, uint64_t b)
{
    uint64_t mixed = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
    return mixed ^ mixed >> 32;
}
