// A host that polls makes no call by which streams would get on. What it is seen to look at so often, in its own memory
// (a flag that a function in a stream sets) as in the card's (api/touch.c), lets what is queued run.
#include "progress/host_waits.h"

#include "machine/clock.h"
#include "progress/beside.h"
#include "progress/host_threads.h"

// With some time for a program that gives up by itself.
bool sim_host_waits_in_vain(void)
{
    static const double patience = 2; // seconds
    static double since;
    if (since == 0)
        since = sim_seconds(CLOCK_MONOTONIC);
    return sim_seconds(CLOCK_MONOTONIC) - since >= patience;
}

// As long as it only looks at one word, and that for long, it waits for the kernel; else the kernel may be waiting for
// it.
void sim_host_waits_beside(uintptr_t address, bool looks)
{
    static __thread uintptr_t polled;
    static __thread uint64_t polls;
    if (looks && polled == address) {
        if (++polls % SIM_POLLING == 0)
            sim_beside_awake(false);
        return;
    }
    if (polls >= SIM_POLLING)
        sim_beside_awake(true);
    polled = looks ? address : 0;
    polls = 0;
}

// --- words of the host's own memory ---------------------------------------------------------------------------------

// A loop may look at a few of them in turn.
enum { WORDS = 8, WORD_BYTES = 4 };
typedef struct polled_word {
    uintptr_t address;
    uint64_t calls; // of the API, when this thread began to look
    unsigned looks;
} polled_word;

// Without a store of its own between them: what this thread changes itself, a counter, is not what it waits for. And
// only of the thread that made the last call: others look at flags of the program's own, at any time, and what runs
// when would depend on them.
bool sim_host_waits_for(uintptr_t address, bool write)
{
    static __thread polled_word words[WORDS];
    polled_word *word = &words[address / WORD_BYTES % WORDS];
    uint64_t calls;
    if (!sim_host_called_last(&calls))
        return false;
    if (write || word->address != address || word->calls != calls)
        *word = (polled_word){address, calls, 0};
    if (write || ++word->looks < SIM_POLLING)
        return false;
    word->looks = 0;
    return true;
}
