// Words passed from thread to thread. The table forgets: two threads of one slot overwrite each other, and all it costs
// is the better advice. Programs with atomics run on one worker, so nothing is locked.

#include "race/handed.h"

#include <stddef.h>

typedef struct handed {
    uint32_t stamp; // 0: nobody
    uint32_t thread;
    uintptr_t gave, took; // 0: nothing
} handed;

enum { SLOTS = 1 << 13 };
static handed table[SLOTS];

// The threads of one interval lie side by side: they come one after the other.
static handed *slot_of(uint32_t stamp, unsigned thread)
{
    return &table[((size_t)(stamp * 0x9e3779b97f4a7c15u >> 40) + thread) & (SLOTS - 1)];
}

static handed *claim(uint32_t stamp, unsigned thread)
{
    handed *slot = slot_of(stamp, thread);
    if (slot->stamp != stamp || slot->thread != thread)
        *slot = (handed){.stamp = stamp, .thread = thread};
    return slot;
}

void sim_handed_gave(uint32_t stamp, unsigned thread, uintptr_t word)
{
    claim(stamp, thread)->gave = word;
}

void sim_handed_took(uint32_t stamp, unsigned thread, uintptr_t word)
{
    claim(stamp, thread)->took = word;
}

bool sim_handed_between(uint32_t earlier_stamp, unsigned earlier, uint32_t later_stamp, unsigned later,
                        uintptr_t address)
{
    const handed *from = slot_of(earlier_stamp, earlier), *to = slot_of(later_stamp, later);
    bool known = from->stamp == earlier_stamp && from->thread == earlier && to->stamp == later_stamp &&
                 to->thread == later && from->gave;
    return known && from->gave == to->took && from->gave != address;
}
