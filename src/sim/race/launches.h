// Which blocks belong to which launch, and which launches are ordered: by streams, events and the host, or, among a
// launch of the host's and all that its kernels launch, by the rules of dynamic parallelism. A launch may also begin
// before the one before it in its stream has ended; its threads then wait for that one themselves.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/worker.h"

// A launch by a kernel. Its grid is ordered behind what the launching thread knew, and behind other grids: a tail
// launch behind the launching grid and all that this has launched, others behind earlier ones of the same block and
// stream. A grid has ended when those that it launched have.
typedef struct sim_origin {
    uint32_t block;     // the launching one, by its serial number; 0: not known, and the grid is ordered behind all
    uint32_t floor;     // stamps below are ordered before it
    bool tail;          // in cudaStreamTailLaunch
    bool alone;         // in cudaStreamFireAndForget
    const void *stream; // otherwise
    uint64_t order;     // among the launches of all kernels
    struct sim_knowledge *known;
} sim_origin;

typedef struct sim_launch_record {
    uint64_t number; // of the launch, over the program
    uint32_t first_serial, blocks, first_stamp;
    const char *name; // of the kernel
    unsigned grid[3], block[3];
    uintptr_t launched_at;
    sim_origin origin; // without `known`; block 0: the host launched it
    unsigned depth;    // of launches by kernels above it
    // Of a launch that may begin before the one before it in the stream has ended: that one, by the serial number of
    // its first block. 0: it begins behind all that it is ordered behind.
    uint32_t beside;
    // By atomic access: some thread has waited for that one; some block has done so before it let the next launch
    // begin; some thread has let the next launch begin.
    bool waits, waits_first, triggers;
} sim_launch_record;

// Numbers the launch's blocks (launch->first_serial), and returns the floor: stamps below it are ordered before it.
// *passed: the floor for threads that have waited for the launch before.
uint32_t sim_launches_begin(sim_launch_state *launch, uint32_t next_stamp, uint32_t *passed);
void sim_launches_forget(void);
bool sim_launches_ordered(uint32_t earlier_serial, uint32_t later_serial);
// Of two that are: whether the earlier one had ended for a thread of the later one, which has waited for the launch
// before its own (cudaGridDependencySynchronize), or has not.
bool sim_launches_ended(uint32_t earlier_serial, uint32_t later_serial, bool waited);
// A thread of the block's launch waits for the launch before; a thread lets the next one begin; a block has ended in
// which some thread has waited, and none let the next one begin before it had.
void sim_launches_wait(uint32_t serial);
void sim_launches_trigger(uint32_t serial);
void sim_launches_waited_first(uint32_t serial);
// The launch that has the block counts as `number` from now on, which repeats it. False: it is not known any more.
bool sim_launches_renew(uint32_t serial, uint64_t number);
const sim_launch_record *sim_launches_find(uint32_t serial); // NULL: unknown
// Whether both come from one launch of the host's; *parent: one of them launched the other, or what did.
bool sim_launches_related(uint32_t one_serial, uint32_t other_serial, bool *parent);
