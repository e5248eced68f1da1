// A condition that a stream's callback signals, a flag in mapped memory: when the program has made no call for a while
// and work is queued, a thread of ours runs it. A program that is seen to poll (host_waits.c) does not wait as long:
// another thread runs it at once.
#define _GNU_SOURCE
#include "progress/beside.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "machine/clock.h"
#include "progress/host_threads.h"
#include "progress/spin.h"

static const long look_every_ns = 50000000, look_at_run_every_ns = 200000;
static const double idle_seconds = 0.2; // without a call, when the program uses no processor either: it waits
static const double busy_seconds = 5;   // without a call, whatever it does: it may be polling
static const double idle_share = 0.2;   // of a processor

static struct {
    bool started;
    bool (*queued)(void);
    void (*run)(void);
} over;

static void *watch_over(void *unused)
{
    (void)unused;
    sim_host_thread_is_ours();
    uint64_t calls = 0;
    double since = sim_seconds(CLOCK_MONOTONIC), used = sim_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (;;) {
        const struct timespec pause = {0, look_every_ns};
        nanosleep(&pause, NULL);
        const uint64_t seen = sim_host_calls();
        const double now = sim_seconds(CLOCK_MONOTONIC), busy = sim_seconds(CLOCK_PROCESS_CPUTIME_ID);
        const bool idle = busy - used < idle_share * (now - since);
        const bool queued = over.queued();
        if (seen == calls && queued && now - since > (idle ? idle_seconds : busy_seconds))
            over.run();
        else if (seen == calls && queued)
            continue;
        calls = seen;
        since = now;
        used = busy;
    }
    return NULL;
}

void sim_beside_watch_over(bool (*queued)(void), void (*run)(void))
{
    pthread_t thread;
    if (over.started)
        return;
    over.started = true;
    over.queued = queued;
    over.run = run;
    sim_host_threads_ours(1);
    if (pthread_create(&thread, NULL, watch_over, NULL) == 0)
        pthread_detach(thread);
    else
        sim_host_threads_ours(-1);
}

// --- a program that polls -------------------------------------------------------------------------------------------

enum { LONG_FUNCTION = 100 }; // looks at a function of the host that has not ended: 20 ms

static atomic_bool under_way, in_host_function;
static __thread char self;         // its address tells threads apart
static const char *_Atomic let_go; // the thread that let another run what is queued

bool sim_beside_under_way(void)
{
    return atomic_load_explicit(&under_way, memory_order_relaxed);
}

void sim_beside_host_function(bool begins)
{
    atomic_store(&in_host_function, begins);
}

static void run_once(void (*run)(void))
{
    run();
    sim_host_run_turns();
    atomic_store(&under_way, false);
}

// Written by the thread that has set under_way, until the run has ended.
static void (*beside)(void);

static void *run_beside(void *unused)
{
    sim_host_thread_is_ours();
    run_once(beside);
    sim_host_threads_ours(-1);
    return unused;
}

void sim_beside_run(void (*run)(void))
{
    pthread_t thread;
    if (atomic_exchange(&under_way, true))
        return;
    const uint64_t idle = sim_spin_idle();
    atomic_store(&let_go, &self);
    sim_host_run_turns();
    sim_host_threads_ours(1);
    beside = run;
    if (pthread_create(&thread, NULL, run_beside, NULL) != 0) {
        sim_host_threads_ours(-1);
        run_once(run);
        return;
    }
    pthread_detach(thread);
    int looks = 0;
    while (atomic_load(&under_way) && sim_spin_idle() == idle && looks < LONG_FUNCTION) {
        const struct timespec pause = {0, look_at_run_every_ns};
        nanosleep(&pause, NULL);
        looks = atomic_load(&in_host_function) ? looks + 1 : 0;
    }
}

void sim_beside_awake(bool awake)
{
    if (atomic_load(&under_way) && atomic_load(&let_go) == &self)
        sim_host_thread_polls(!awake);
}
