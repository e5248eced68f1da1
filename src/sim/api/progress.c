// Streams run when the program waits for them. A program may wait in ways the runtime does not see (a condition that a
// stream's callback signals, a flag in mapped memory): when it has made no call for a while and work is queued, this
// thread runs it. A program that is seen to poll (api/poll.c) does not wait as long: another thread runs it at once.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "api/call.h"
#include "api/stream.h"
#include "core/host_threads.h"
#include "machine/worker.h"

static const long look_every_ns = 50000000, look_at_run_every_ns = 200000;
static const double idle_seconds = 0.2; // without a call, when the program uses no processor either: it waits
static const double busy_seconds = 5;   // without a call, whatever it does: it may be polling
static const double idle_share = 0.2;   // of a processor

static bool started;
static uint64_t calls_seen;
static __thread uint64_t last_call; // of this thread: its number

void sim_progress_seen(void)
{
    last_call = __atomic_add_fetch(&calls_seen, 1, __ATOMIC_RELAXED);
}

bool sim_progress_called_last(uint64_t *calls)
{
    *calls = __atomic_load_n(&calls_seen, __ATOMIC_RELAXED);
    return *calls == last_call;
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void run_all(void)
{
    sim_api_lock();
    while (!sim_streams_empty()) {
        for (struct CUstream_st *stream = sim_streams; stream != NULL; stream = stream->next) {
            while (sim_stream_step(stream))
                continue;
        }
    }
    sim_api_unlock();
}

static void *watch_over(void *unused)
{
    (void)unused;
    sim_host_thread_is_ours();
    uint64_t calls = 0;
    double since = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (;;) {
        const struct timespec pause = {0, look_every_ns};
        nanosleep(&pause, NULL);
        const uint64_t seen = __atomic_load_n(&calls_seen, __ATOMIC_RELAXED);
        const double now = seconds(CLOCK_MONOTONIC), busy = seconds(CLOCK_PROCESS_CPUTIME_ID);
        const bool idle = busy - used < idle_share * (now - since);
        const bool queued = !sim_streams_empty();
        if (seen == calls && queued && now - since > (idle ? idle_seconds : busy_seconds))
            run_all();
        else if (seen == calls && queued)
            continue;
        calls = seen;
        since = now;
        used = busy;
    }
    return NULL;
}

void sim_progress_wanted(void)
{
    pthread_t thread;
    if (started)
        return;
    started = true;
    sim_host_threads_ours(1);
    if (pthread_create(&thread, NULL, watch_over, NULL) == 0)
        pthread_detach(thread);
    else
        sim_host_threads_ours(-1);
}

// --- a program that polls
// ----------------------------------------------------------------------------------------------

enum { LONG_FUNCTION = 100 }; // looks at a function of the host that has not ended: 20 ms

static atomic_bool under_way, in_host_function;
static __thread char self;         // its address tells threads apart
static const char *_Atomic let_go; // the thread that let another run what is queued

bool sim_progress_under_way(void)
{
    return atomic_load_explicit(&under_way, memory_order_relaxed);
}

void sim_progress_host_function(bool begins)
{
    atomic_store(&in_host_function, begins);
}

static void run_once(void)
{
    run_all();
    sim_host_run_turns();
    atomic_store(&under_way, false);
}

static void *run_beside(void *unused)
{
    sim_host_thread_is_ours();
    run_once();
    sim_host_threads_ours(-1);
    return unused;
}

void sim_progress_run(void)
{
    pthread_t thread;
    if (atomic_exchange(&under_way, true))
        return;
    const uint64_t idle = sim_spin_idle();
    atomic_store(&let_go, &self);
    sim_host_run_turns();
    sim_host_threads_ours(1);
    if (pthread_create(&thread, NULL, run_beside, NULL) != 0) {
        sim_host_threads_ours(-1);
        run_once();
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

void sim_progress_awake(bool awake)
{
    if (atomic_load(&under_way) && atomic_load(&let_go) == &self)
        sim_host_thread_polls(!awake);
}
