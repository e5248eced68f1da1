// Counts instead of marks: which of the program's threads does what is of no interest, only whether there is one left.
#define _GNU_SOURCE
#include "progress/host_threads.h"

#include <stdatomic.h>
#include <sys/stat.h>

static __thread bool is_ours;
static atomic_int ours, waiting;
static _Atomic uint64_t run = 1, polled_in; // the run in which the thread that was let go polls
static _Atomic uint64_t turns;

void sim_host_threads_ours(int change)
{
    atomic_fetch_add(&ours, change);
}

void sim_host_thread_is_ours(void)
{
    is_ours = true;
}

void sim_host_thread_waits(int change)
{
    if (!is_ours)
        atomic_fetch_add(&waiting, change);
}

void sim_host_thread_polls(bool polls)
{
    const uint64_t in = polls ? atomic_load(&run) : 0;
    if (atomic_exchange(&polled_in, in) != in)
        atomic_fetch_add(&turns, 1);
}

void sim_host_run_turns(void)
{
    atomic_fetch_add(&run, 1);
    atomic_fetch_add(&turns, 1);
}

// A folder has a link for each folder in it, besides two of its own. Elsewhere there is no such folder: then what the
// program's other threads do is not known.
static int threads_of_process(void)
{
    struct stat tasks;
    return stat("/proc/self/task", &tasks) == 0 ? (int)tasks.st_nlink - 2 : 0;
}

bool sim_host_goes_on(void)
{
    const int resting = atomic_load(&waiting) + (atomic_load(&polled_in) == atomic_load(&run));
    return threads_of_process() - atomic_load(&ours) > resting;
}

uint64_t sim_host_turns(void)
{
    return atomic_load(&turns);
}

static uint64_t calls_seen;
static __thread uint64_t last_call; // of this thread: its number

void sim_host_called(void)
{
    last_call = __atomic_add_fetch(&calls_seen, 1, __ATOMIC_RELAXED);
}

uint64_t sim_host_calls(void)
{
    return __atomic_load_n(&calls_seen, __ATOMIC_RELAXED);
}

bool sim_host_called_last(uint64_t *calls)
{
    *calls = sim_host_calls();
    return *calls == last_call;
}
