// Sleeping on a word through Linux's futex, and the clocked step of a spin loop.

#include "base/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"

// Reading the clock costs about as much as three pauses; this many in a row keep it from dominating the spin.
enum { PAUSES_A_STEP = 16 };

_Static_assert(sizeof(atomic_uint) == 4, "the kernel sleeps on 32-bit words");

bool heddle_spin(double deadline)
{
    for (int i = 0; i < PAUSES_A_STEP; i++)
        heddle_pause();
    return heddle_now() < deadline;
}

void heddle_futex_wait(atomic_uint *word, unsigned expected)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

void heddle_futex_wake(atomic_uint *word, int sleepers)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, sleepers, NULL, NULL, 0);
}
