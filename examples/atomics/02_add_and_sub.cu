// atomicAdd and atomicSub: load, addition and store as one step that no other thread gets between. They return what was
// there before, which no other thread is given: so they also hand out numbers.
//
// Cost: additions to one address are done one after another, by the L2 slice that has it. 10_warp_first.cu does fewer.

#include "program.h"

enum { BLOCKS = 64, THREADS = 128, ALL = BLOCKS * THREADS };

// ticket: (ALL) ends up with each number from 0 on once, in whatever order threads came.
__global__ void count(int *up, unsigned long long *wide, int *down, int *tickets)
{
    int mine = atomicAdd(up, 1);
    tickets[mine] = 1;
    atomicAdd(wide, 1ull << 32);
    atomicSub(down, 2);
}

int main()
{
    static int tickets[ALL];
    int up = 0, down = 2 * ALL, given = 0;
    unsigned long long wide = 0;
    int *card_up = (int *)to_card(&up, sizeof up), *card_down = (int *)to_card(&down, sizeof down);
    int *card_tickets = (int *)to_card(tickets, sizeof tickets);
    unsigned long long *card_wide = (unsigned long long *)to_card(&wide, sizeof wide);
    count<<<BLOCKS, THREADS>>>(card_up, card_wide, card_down, card_tickets);
    from_card(&up, card_up, sizeof up);
    from_card(&wide, card_wide, sizeof wide);
    from_card(&down, card_down, sizeof down);
    from_card(tickets, card_tickets, sizeof tickets);
    for (int i = 0; i < ALL; i++)
        given += tickets[i];
    expect("added up", up, ALL);
    expect("added up, 64 bits", (double)wide, ALL * 0x1p32);
    expect("counted down", down, 0);
    expect("different tickets", given, ALL);
    return wrong_results > 0;
}
