// The time of an access, in one word: which barrier interval of which block (its stamp), which thread, how often that
// thread had met others since the barrier (its clock), and where in the source (its site). Words of later stamps are
// larger.
//
//   63            36 35      26 25      16 15     2 1   0
//   |    stamp      |  clock    |  thread  |  site  |flags|
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "race/shadow.h"

enum { SIM_STAMP_SHIFT = 36, SIM_CLOCK_SHIFT = 26, SIM_THREAD_SHIFT = 16, SIM_SITE_SHIFT = 2 };
enum { SIM_CLOCK_MAX = 1023 };

// Flags of a read word: who else has read since the last write. The word itself names one of them.
enum {
    SIM_ONE_READER,
    SIM_MANY_LANES,  // of that reader's warp, at its clock
    SIM_MANY_WARPS,  // of its block, at its stamp
    SIM_MANY_BLOCKS, // of its launch
};
#define SIM_FLAGS       ((uint64_t)3)

#define SIM_SAME_THREAD ((~(uint64_t)0 << SIM_STAMP_SHIFT) | ((uint64_t)1023 << SIM_THREAD_SHIFT))

// A cell whose story is too rich for two words has a pointer for a write word, with this set above it (exact.h). In one
// word, so that a worker that stores into the other meanwhile does no harm. No stamp is as large.
#define SIM_EXACT ((uint64_t)0xffff << 48)

static inline uint32_t sim_stamp_of(uint64_t word)
{
    return (uint32_t)(word >> SIM_STAMP_SHIFT);
}
static inline unsigned sim_clock_of(uint64_t word)
{
    return (unsigned)(word >> SIM_CLOCK_SHIFT) & 1023;
}
static inline unsigned sim_thread_of(uint64_t word)
{
    return (unsigned)(word >> SIM_THREAD_SHIFT) & 1023;
}
static inline unsigned sim_site_of(uint64_t word)
{
    return (unsigned)(word >> SIM_SITE_SHIFT) & 0x3fff;
}
static inline bool sim_same_thread(uint64_t a, uint64_t b)
{
    return ((a ^ b) & SIM_SAME_THREAD) == 0;
}
