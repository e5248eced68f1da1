// atomicInc and atomicDec count round: atomicInc(&x, most) gives 0 after `most`, atomicDec(&x, most) gives `most` after
// 0. That is the index into a ring of most + 1 places, without a division, and it makes a counter that is ready for the
// next launch by itself: the last of n threads to add finds n - 1 and leaves 0.

#include "program.h"

enum { BLOCKS = 24, THREADS = 64, ALL = BLOCKS * THREADS, PLACES = 48 };

__global__ void go_round(unsigned *up, unsigned *down, int *visits, unsigned *arrived, int *last)
{
    atomicAdd(&visits[atomicInc(up, PLACES - 1)], 1);
    atomicDec(down, PLACES - 1);
    if (atomicInc(arrived, ALL - 1) == ALL - 1)
        atomicAdd(last, 1); // exactly one thread sees that all others have been here
}

int main()
{
    int visits[PLACES] = {0}, last = 0, even = 0;
    unsigned up = 0, down = 5, arrived = 0;
    unsigned *card_up = (unsigned *)to_card(&up, sizeof up), *card_down = (unsigned *)to_card(&down, sizeof down);
    unsigned *card_arrived = (unsigned *)to_card(&arrived, sizeof arrived);
    int *card_visits = (int *)to_card(visits, sizeof visits), *card_last = (int *)to_card(&last, sizeof last);
    for (int launch = 0; launch < 2; launch++)
        go_round<<<BLOCKS, THREADS>>>(card_up, card_down, card_visits, card_arrived, card_last);
    from_card(&up, card_up, sizeof up);
    from_card(&down, card_down, sizeof down);
    from_card(visits, card_visits, sizeof visits);
    from_card(&arrived, card_arrived, sizeof arrived);
    from_card(&last, card_last, sizeof last);
    for (int i = 0; i < PLACES; i++)
        even += visits[i] == 2 * ALL / PLACES;
    expect("place after whole rounds", up, 0);
    expect("the same, downwards", down, 5);
    expect("places visited evenly", even, PLACES);
    expect("arrived, ready again", arrived, 0);
    expect("last ones, one a launch", last, 2);
    return wrong_results > 0;
}
