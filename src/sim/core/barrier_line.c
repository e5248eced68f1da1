// Which of several barriers on one source line a place is. Places are told apart by their lines, so the rewriter
// numbers the second and later ones of a line; a place that is not known here is the first.
#include "core/barrier_line.h"

enum { MOST = 256 }; // such places in one program

static struct {
    uintptr_t pc;
    int number;
} places[MOST];

void sim_barrier_on_line_note(uintptr_t pc, int number)
{
    for (int i = 0; i < MOST; i++) {
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
    for (int i = 0; i < MOST && places[i].pc; i++)
        if (places[i].pc == pc)
            return places[i].number;
    return 1;
}
