// Which of several threads, warps or blocks that could go first does go first. Every order is legal; a program whose
// result depends on it is wrong, and running it under several schedules shows that.
#pragma once

#include <stdint.h>

#include "machine/options.h"
#include "machine/worker.h"

int sim_order_drawn(uint32_t mask, uint64_t salt);

// The first of the lanes (or warps) in mask, which is not 0. `salt` tells apart the choices that are drawn separately.
static inline int sim_order_first(uint32_t mask, uint64_t salt)
{
    if (sim_schedule == SIM_SCHEDULE_ASCENDING)
        return __builtin_ctz(mask);
    if (sim_schedule == SIM_SCHEDULE_DESCENDING)
        return SIM_LANES - 1 - __builtin_clz(mask);
    return sim_order_drawn(mask, salt);
}

// One of two, drawn for this salt.
bool sim_order_chance(uint64_t salt);
// From 0 to 1, drawn for a block of a launch; another in another schedule.
double sim_order_share(uint64_t seed, uint64_t launch, uint64_t block);

// The number of the block that starts as the position-th.
uint64_t sim_order_block(uint64_t position, uint64_t blocks);
