// The lock of 11_lock.cu without its fences. Only one thread is inside at a time, and still the balance can come out
// wrong: nothing says that what one thread wrote inside is there before its lock is seen to be free. The next thread
// may add to an old balance.
//
// A card often gets it right by luck. `heddle check examples/atomics/12_lock_without_fence.cu` goes by the rules.

#include "program.h"

enum { BLOCKS = 16, THREADS = 32 };

__global__ void book(int *lock, int *balance, int amount)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *balance += amount; // wrong: race
            atomicExch(lock, 0);
            done = true;
        }
    }
}

int main()
{
    int lock = 0, balance = 100;
    int *card_lock = (int *)to_card(&lock, sizeof lock), *card_balance = (int *)to_card(&balance, sizeof balance);
    book<<<BLOCKS, THREADS>>>(card_lock, card_balance, 7);
    from_card(&lock, card_lock, sizeof lock);
    from_card(&balance, card_balance, sizeof balance);
    expect("balance", balance, 100 + 7 * BLOCKS * THREADS);
    return wrong_results > 0;
}
