// The pool of OS threads that run blocks, and what each has of its own: index variables, stacks, address ranges.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/launch.h"
#include "core/scheduler.h"
#include "machine/index.h"
#include "machine/options.h"
#include "program/program.h"
#include "progress/host_threads.h"
#include "progress/watchdog.h"
#include "watch/scheduler.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    uint64_t round;
    void (*job)(sim_worker *);
    int taking_part, busy; // workers of this round; those of them that have not finished
    const char *missing;   // why there is not even one
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .begin = PTHREAD_COND_INITIALIZER, .end = PTHREAD_COND_INITIALIZER};

static void set_up(sim_runner *runner)
{
    sim_worker *worker = &runner->worker;
    const sim_module *module = sim_module_self();
    sim_worker_here = worker;
    worker->thread_local_lo = sim_module_tls();
    worker->thread_local_hi = worker->thread_local_lo + module->tls_bytes;
    worker->dynamic_lo = (uintptr_t)sim_dynamic_buffer;
    worker->stacks_lo = (uintptr_t)runner->stacks.base;
    worker->stacks_hi = worker->stacks_lo + runner->stacks.slot * runner->stacks.slots;
    sim_fault_alternate_stack();
    sim_watch_start(worker);
}

static void *work(void *argument)
{
    sim_runner *runner = argument;
    set_up(runner);
    uint64_t done = 0;
    pthread_mutex_lock(&pool.lock);
    if (--pool.busy == 0)
        pthread_cond_signal(&pool.end);
    for (;;) {
        while (pool.round == done)
            pthread_cond_wait(&pool.begin, &pool.lock);
        done = pool.round;
        if (runner->worker.number >= pool.taking_part)
            continue;
        pthread_mutex_unlock(&pool.lock);
        pool.job(&runner->worker);
        pthread_mutex_lock(&pool.lock);
        if (--pool.busy == 0)
            pthread_cond_signal(&pool.end);
    }
    return NULL;
}

static int workers_wanted(void)
{
    // A run that is to show whether reads wait for stores: they do or not by the rules, not by which worker was faster.
    if (sim_options_get()->values)
        return 1;
    int wanted = sim_options_get()->workers;
    return wanted < 1 ? 1 : wanted > SIM_WORKERS_MOST ? SIM_WORKERS_MOST : wanted;
}

// NULL, or why there cannot be another worker.
static const char *start_worker(int number)
{
    sim_runner *runner = aligned_alloc(64, (sizeof *runner + 63) & ~(size_t)63);
    if (!runner)
        return "out of memory for a worker";
    *runner = (sim_runner){.worker = {.number = number, .progress = &runner->progress}, .entry = sim_thread_main};
    if (!sim_stacks_reserve(&runner->stacks, sim_options_get()->stack))
        return "too little address space for the stacks of CUDA threads: raise `ulimit -v` or lower SIM_STACK";
    sim_worker_add(number, &runner->worker);
    sim_host_threads_ours(1);
    if (pthread_create(&runner->progress.os_thread, NULL, work, runner) == 0)
        return NULL;
    sim_host_threads_ours(-1);
    sim_worker_add(number, NULL);
    return "no thread can be started to run blocks on: raise `ulimit -u`";
}

// Signals that are meant for the program are left to its own threads.
static void block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    const int ours[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGURG};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        sigdelset(&all, ours[i]);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

static const sim_scheduler_calls calls = {.fail = sim_thread_fail,
                                          .log_full = sim_thread_log_full,
                                          .polls = sim_thread_polls,
                                          .delays = sim_thread_delays,
                                          .stack_top = sim_thread_stack_top};

static void start_all(void)
{
    sim_scheduler = &calls;
    sigset_t before;
    int wanted = workers_wanted();
    sim_fault_install();
    block_signals(&before);
    pthread_mutex_lock(&pool.lock);
    int number = 0;
    // Fewer than wanted will do, as long as there is one.
    while (number < wanted && (pool.missing = start_worker(number)) == NULL) {
        pool.busy++;
        number++;
    }
    if (number > 0) {
        sim_workers = number;
        pool.missing = NULL;
    }
    while (pool.busy)
        pthread_cond_wait(&pool.end, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    if (number > 0)
        sim_watchdog_start();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

const char *sim_pool_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_all);
    return pool.missing;
}

void sim_pool_run(void (*job)(sim_worker *), int workers)
{
    pthread_mutex_lock(&pool.lock);
    pool.job = job;
    pool.taking_part = pool.busy = workers;
    pool.round++;
    pthread_cond_broadcast(&pool.begin);
    while (pool.busy)
        pthread_cond_wait(&pool.end, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}
