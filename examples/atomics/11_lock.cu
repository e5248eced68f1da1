// A lock made of atomicCAS, for what no single atomic can do: here two numbers that have to change together.
//
// Three things make it right. Only one thread can turn 0 into 1, so that only one is inside. A fence stands on both
// sides: after taking, so that nothing inside is read before; before giving back, so that everything inside is written
// when the next thread comes in. And the work stands inside the loop that takes the lock: a thread that waits goes
// round without it, and does not stand in the way of the lane of its own warp that has it.
//
// Cost: threads take turns, each with several trips to L2. Where an atomic or a sum by blocks will do, take that.

#include "program.h"

enum { BLOCKS = 8, THREADS = 32, ALL = BLOCKS * THREADS };

struct account {
    int lock;
    int balance, bookings;
};

__global__ void book(account *one, int amount)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(&one->lock, 0, 1) == 0) {
            __threadfence();
            one->balance += amount;
            one->bookings++;
            __threadfence();
            atomicExch(&one->lock, 0);
            done = true;
        }
    }
}

int main()
{
    account one = {0, 100, 0};
    account *card = (account *)to_card(&one, sizeof one);
    book<<<BLOCKS, THREADS>>>(card, 7);
    from_card(&one, card, sizeof one);
    expect("balance", one.balance, 100 + 7 * ALL);
    expect("bookings", one.bookings, ALL);
    expect("lock, given back", one.lock, 0);
    return wrong_results > 0;
}
