// Ctrl-C while rungs are measured. What measures looks at the flag between two launches; but a reference in float64 or
// a slow rung is one call of many seconds, which nothing can end. So there is a turn: measuring has it, but for such
// calls. Who waits for the signal takes the turn then, saves what there is, and ends the process under the call.

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/bench.h"

enum { SIGNALLED = 128 };               // what a shell adds to the signal's number
static const long patience = 400000000; // nanoseconds, in which measuring may end by itself

volatile sig_atomic_t heddle_cli_bench_stop;

static struct {
    pthread_mutex_t turn;
    sem_t woken;
    pthread_t waiting;
    bool watched;
    atomic_bool ended;
    void (*take_over)(void *context);
    void *context;
} stop = {.turn = PTHREAD_MUTEX_INITIALIZER};

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };

static void on_interrupt(int number)
{
    int error = errno; // of whatever this interrupts
    heddle_cli_bench_stop = number;
    signal(number, SIG_DFL); // a second one ends it at once
    sem_post(&stop.woken);
    errno = error;
}

int heddle_cli_bench_stop_code(void)
{
    return SIGNALLED + heddle_cli_bench_stop;
}

static void *wait_for_signal(void *none)
{
    (void)none;
    while (sem_wait(&stop.woken) != 0 && errno == EINTR) {
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += patience;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!atomic_load(&stop.ended) && (sem_timedwait(&stop.woken, &until) == 0 || errno == EINTR)) {
    }
    pthread_mutex_lock(&stop.turn);
    if (!atomic_load(&stop.ended)) {
        stop.take_over(stop.context);
        fflush(stdout);
        _exit(heddle_cli_bench_stop_code());
    }
    pthread_mutex_unlock(&stop.turn);
    return NULL;
}

void heddle_cli_bench_watch(void (*take_over)(void *context), void *context)
{
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    sigset_t all, own;
    stop.take_over = take_over;
    stop.context = context;
    sem_init(&stop.woken, 0, 0);
    pthread_mutex_lock(&stop.turn);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &own); // signals are for the thread that measures
    stop.watched = pthread_create(&stop.waiting, NULL, wait_for_signal, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    for (int i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

void heddle_cli_bench_away(void *context, bool away)
{
    (void)context;
    if (away)
        pthread_mutex_unlock(&stop.turn);
    else
        pthread_mutex_lock(&stop.turn);
}

void heddle_cli_bench_unwatch(void)
{
    struct sigaction before;
    for (int i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == on_interrupt)
            signal(signals[i], SIG_DFL);
    atomic_store(&stop.ended, true);
    pthread_mutex_unlock(&stop.turn);
    if (!stop.watched)
        return;
    sem_post(&stop.woken);
    pthread_join(stop.waiting, NULL);
}
