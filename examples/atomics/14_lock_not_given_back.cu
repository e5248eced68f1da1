// A lock that one way out does not give back: the thread that finds the account closed returns with the lock in its
// hand, and the next one waits for ever. Every way out of the locked part needs its atomicExch, or better, there is
// only one way out.
//
// On a card this program never ends: stop it.

#include "program.h"

enum { BLOCKS = 8, MOST = 120 };

__global__ void book(int *lock, int *balance, int amount)
{
    while (atomicCAS(lock, 0, 1) != 0) // wrong: spin
        ;
    __threadfence();
    if (*balance + amount > MOST)
        return; // and the lock?
    *balance += amount;
    __threadfence();
    atomicExch(lock, 0);
}

int main()
{
    int lock = 0, balance = 100;
    int *card_lock = (int *)to_card(&lock, sizeof lock), *card_balance = (int *)to_card(&balance, sizeof balance);
    book<<<BLOCKS, 1>>>(card_lock, card_balance, 7);
    from_card(&lock, card_lock, sizeof lock);
    from_card(&balance, card_balance, sizeof balance);
    expect("balance", balance, 114);
    return wrong_results > 0;
}
