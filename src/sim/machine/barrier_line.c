// Which of several barriers on one source line a place is. Places are told apart by their lines, so the rewriter
// numbers the second and later ones of a line; a place that is not known here is the first.
#include "machine/barrier_line.h"

enum { MOST = 8192 }; // such places in one program; those of further ones pass for the first of their lines

static struct {
    uintptr_t pc;
    int number;
} places[MOST];

// Where to look for a place, and then in those behind it.
static unsigned start_of(uintptr_t pc)
{
    return (unsigned)((pc >> 2) * UINT64_C(0x9E3779B97F4A7C15) >> 48);
}

void sim_barrier_on_line_note(uintptr_t pc, int number)
{
    unsigned start = start_of(pc);
    for (unsigned step = 0; step < MOST; step++) {
        unsigned i = (start + step) % MOST;
        uintptr_t there = __atomic_load_n(&places[i].pc, __ATOMIC_RELAXED);
        bool taken = there == 0 &&
                     __atomic_compare_exchange_n(&places[i].pc, &there, pc, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        if (taken)
            __atomic_store_n(&places[i].number, number, __ATOMIC_RELAXED);
        if (taken || there == pc)
            return;
    }
}

int sim_barrier_on_line_number(uintptr_t pc)
{
    unsigned start = start_of(pc);
    for (unsigned step = 0; step < MOST; step++) {
        unsigned i = (start + step) % MOST;
        if (places[i].pc == pc)
            return places[i].number;
        if (places[i].pc == 0)
            break;
    }
    return 1;
}
