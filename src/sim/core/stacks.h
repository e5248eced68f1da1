// The stacks of one worker's fibers: slots of one reserved range, made usable as they are first needed and used again.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_stacks {
    char *base;        // of the range
    size_t slot, size; // bytes of a slot; bytes of the stack in it: the rest, below, faults
    uint32_t slots;    // in the range
    uint32_t ready;    // slots made usable so far
    uint32_t *unused;  // those of them that no fiber has
    uint32_t unused_count;
} sim_stacks;

enum { SIM_NO_STACK = UINT32_MAX };

// False: the machine has not even room for one block's stacks.
bool sim_stacks_reserve(sim_stacks *stacks, size_t stack_bytes);
// SIM_NO_STACK when the range is used up.
uint32_t sim_stacks_grow(sim_stacks *stacks);

static inline uint32_t sim_stacks_take(sim_stacks *stacks)
{
    return stacks->unused_count ? stacks->unused[--stacks->unused_count] : sim_stacks_grow(stacks);
}

static inline void sim_stacks_give(sim_stacks *stacks, uint32_t number)
{
    stacks->unused[stacks->unused_count++] = number;
}

// The usable part of a slot.
static inline char *sim_stacks_low(const sim_stacks *stacks, uint32_t number)
{
    return stacks->base + (size_t)number * stacks->slot + (stacks->slot - stacks->size);
}

// Where a fiber starts. Stacks begin at different offsets in their slots ("coloured"): were they all alike, the hot
// frames of all threads of a block would fall into the same few cache sets.
static inline char *sim_stacks_top(const sim_stacks *stacks, uint32_t number)
{
    enum { COLOURS = 64, COLOUR_BYTES = 192 };
    return stacks->base + (size_t)(number + 1) * stacks->slot - (size_t)(number % COLOURS) * COLOUR_BYTES;
}
