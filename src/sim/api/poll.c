// A host that polls makes no call by which streams would get on. What it is seen to look at so often, in its own memory
// (a flag that a function in a stream sets) as in the card's (api/touch.c), lets what is queued run.
#include "api/poll.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "api/call.h"
#include "api/stream.h"
#include "report/report.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// A kernel has failed and nothing runs any more: what the host polls for never comes, and what was found would not be
// told. With some time for a program that gives up by itself.
static void end_polling(void)
{
    static const double patience = 2; // seconds
    static double since;
    if (since == 0)
        since = now();
    if (now() - since < patience)
        return;
    fprintf(stderr, "sim: the host polls for what a kernel that has failed can no longer do: the program is ended\n");
    sim_report_write("stopped: the host polls for what a kernel that has failed can no longer do");
    _Exit(EXIT_FAILURE);
}

// Not in the middle of a call of this thread, which still has the lock then.
void sim_poll_let_run(void)
{
    if (pthread_mutex_trylock(sim_api_mutex()) != 0)
        return;
    const bool broken = sim_error_broken() != cudaSuccess, empty = sim_streams_empty();
    pthread_mutex_unlock(sim_api_mutex());
    if (!empty)
        sim_progress_run();
    else if (broken)
        end_polling();
}

// As long as it only looks at one word, and that for long, it waits for the kernel; else the kernel may be waiting for
// it.
void sim_poll_meanwhile(uintptr_t address, bool looks)
{
    static __thread uintptr_t polled;
    static __thread uint64_t polls;
    if (looks && polled == address) {
        if (++polls % SIM_POLLING == 0)
            sim_progress_awake(false);
        return;
    }
    if (polls >= SIM_POLLING)
        sim_progress_awake(true);
    polled = looks ? address : 0;
    polls = 0;
}

// --- words of the host's own memory ----------------------------------------------------------------------------------

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
static bool polls(uintptr_t address, bool write)
{
    static __thread polled_word words[WORDS];
    polled_word *word = &words[address / WORD_BYTES % WORDS];
    uint64_t calls;
    if (!sim_progress_called_last(&calls))
        return false;
    if (write || word->address != address || word->calls != calls)
        *word = (polled_word){address, calls, 0};
    if (write || ++word->looks < SIM_POLLING)
        return false;
    word->looks = 0;
    return true;
}

void sim_api_host_polls(uintptr_t address, bool write)
{
    if (sim_streams_run_here())
        return;
    if (sim_progress_under_way())
        sim_poll_meanwhile(address, !write);
    else if ((sim_streams_host_functions() > 0 || sim_error_broken() != cudaSuccess) && polls(address, write))
        sim_poll_let_run();
}
