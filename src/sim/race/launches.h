// Which blocks belong to which launch, and which launches are ordered by streams, events and the host.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/worker.h"

typedef struct sim_launch_record {
    uint64_t number; // of the launch, over the program
    uint32_t first_serial, blocks, first_stamp;
    const char *name; // of the kernel
    unsigned grid[3], block[3];
    uintptr_t launched_at;
} sim_launch_record;

// Numbers the launch's blocks (launch->first_serial), and returns the floor: stamps below it are ordered before it.
uint32_t sim_launches_begin(sim_launch_state *launch, uint32_t next_stamp);
void sim_launches_forget(void);
bool sim_launches_ordered(uint32_t earlier_serial, uint32_t later_serial);
// The launch that has the block counts as `number` from now on, which repeats it. False: it is not known any more.
bool sim_launches_renew(uint32_t serial, uint64_t number);
const sim_launch_record *sim_launches_find(uint32_t serial); // NULL: unknown
