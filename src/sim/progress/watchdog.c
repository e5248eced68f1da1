// Notices a thread that computes forever without waiting or touching memory. It looks at every worker's counters now
// and then; a worker whose counters stand still while its OS thread uses processor time is sent a signal
// (core/fault.c), which in the end stops the thread where it is. Before that, and where no hooks see what a kernel
// reads, the signal is how a thread that polls a plain variable is made to let others run. Time is processor time: a
// machine that is busy elsewhere is no reason.
#define _GNU_SOURCE
#include "progress/watchdog.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "findings/finding.h"
#include "machine/clock.h"
#include "machine/options.h"
#include "progress/host_threads.h"
#include "progress/progress.h"

static const double pause_busy = 0.01, pause_idle = 0.05; // seconds between looks
static const double trace_after = 0.5;                    // of no progress
static const double prove_after = 0.2; // of standing still: from then on a thread is interrupted to see what it is like

typedef struct watched {
    uint64_t events;
    int thread;
    const uint64_t *log;
    double since; // processor time of the worker when these last changed
    uint64_t steps;
    double trace_at, trace_pause; // when to look closer if that stays as it is, and how long after that again
} watched;

static watched seen[SIM_WORKERS_MOST];

static double processor_time(const sim_worker *worker)
{
    clockid_t clock;
    return pthread_getcpuclockid(worker->progress->os_thread, &clock) == 0 ? sim_seconds(clock) : 0;
}

// Where nothing comes nearer its end, a loop may be going round in the same state (repeat.c). That costs a
// little, so it is asked for less and less often.
static void look_for_progress(sim_worker *worker, watched *before, double time)
{
    uint64_t steps = sim_progress_of_all();
    if (steps != before->steps || before->trace_at == 0) {
        before->steps = steps;
        before->trace_at = time + trace_after;
        before->trace_pause = trace_after;
        worker->trace = false;
    } else if (time > before->trace_at && !worker->trace) {
        worker->trace = true;
        before->trace_pause *= 2;
        before->trace_at = time + before->trace_pause;
    }
}

static void look_at(sim_worker *worker, watched *before, double limit)
{
    double time = processor_time(worker);
    if (sim_watching)
        look_for_progress(worker, before, time);
    uint64_t events = atomic_load_explicit(&worker->progress->events, memory_order_relaxed);
    int thread = __atomic_load_n(&worker->thread, __ATOMIC_RELAXED);
    const uint64_t *log = __atomic_load_n(&worker->log_next, __ATOMIC_RELAXED);
    if (events != before->events || thread != before->thread || log != before->log) {
        before->events = events;
        before->thread = thread;
        before->log = log;
        before->since = time;
        return;
    }
    bool expired = time - before->since > limit;
    if (!expired && time - before->since < (sim_watching ? prove_after : pause_busy / 2))
        return;
    worker->progress->timed_out = expired;
    pthread_kill(worker->progress->os_thread, SIGURG);
}

static bool is_running(const sim_worker *worker)
{
    return __atomic_load_n(&worker->block, __ATOMIC_RELAXED) != NULL;
}

static void *look_around(void *unused)
{
    double limit = sim_options_get()->spin_limit;
    for (;;) {
        bool running = false;
        for (int number = 0; number < sim_workers; number++) {
            sim_worker *worker = sim_worker_at(number);
            if (!is_running(worker))
                continue;
            running = true;
            look_at(worker, &seen[number], limit);
        }
        struct timespec pause = {.tv_nsec = (long)((running ? pause_busy : pause_idle) * 1e9)};
        nanosleep(&pause, NULL);
    }
    return unused;
}

void sim_watchdog_start(void)
{
    pthread_t thread;
    sim_host_threads_ours(1);
    if (pthread_create(&thread, NULL, look_around, NULL) == 0)
        pthread_detach(thread);
    else
        sim_host_threads_ours(-1);
}

void sim_watchdog_report(sim_worker *worker, uintptr_t pc, bool repeats)
{
    sim_finding finding = sim_finding_of(worker, SIM_SPIN, SIM_ERROR);
    finding.place[0] = sim_place_of(worker, worker->thread, pc, "loop");
    if (repeats)
        snprintf(finding.message, sizeof finding.message,
                 "a thread loops forever: nothing that the loop depends on changes any more");
    else
        snprintf(finding.message, sizeof finding.message,
                 "a thread has run for %g seconds without a memory access or a barrier: it seems to run forever",
                 sim_options_get()->spin_limit);
    sim_report(&finding);
}
