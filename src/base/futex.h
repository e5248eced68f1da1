// The lowest level of waiting: a pause for spin loops, and sleeping on a 32-bit word until another thread changes it
// and wakes the sleepers. What the word means, and how long to spin first, is up to the caller.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

// Tells the core that this is a spin loop.
static inline void heddle_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    // `yield` is a no-op on most Arm cores; `isb` holds the pipeline back for about as long as x86's pause.
    __asm__ volatile("isb" ::: "memory");
#endif
}

// One step of a bounded spin: pauses a little and says whether there is time left before `deadline` (heddle_now()).
bool heddle_spin(double deadline);

// Sleeps while *word is `expected`. May return early: check and call again.
void heddle_futex_wait(atomic_uint *word, unsigned expected);
void heddle_futex_wake(atomic_uint *word, int sleepers);
