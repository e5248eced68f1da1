// A lock that the lanes of a warp wait for in the usual way, `while (atomicCAS(...) != 0);`, with the work behind the
// loop. The lane that has the lock waits behind the loop for its warp, the other lanes wait inside it for the lock:
// none goes on. Cards before Volta hang at once. Later ones let lanes go on by themselves in the end, but here they
// cannot:
// __syncwarp() stands behind the loop, and the lane that has the lock waits there for the others.
//
// 11_lock.cu has the work inside the loop. On a card this program never ends: stop it.

#include "program.h"

enum { BLOCKS = 2, THREADS = 32 };

__global__ void book(int *lock, int *balance, int amount)
{
    while (atomicCAS(lock, 0, 1) != 0) // wrong: spin
        ;
    __syncwarp();
    __threadfence();
    *balance += amount;
    __threadfence();
    atomicExch(lock, 0);
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
