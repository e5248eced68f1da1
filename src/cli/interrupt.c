// Signals that stop a command, and the thread that saves the results when the command itself cannot.

#include "cli/interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const long patience = 400000000; // nanoseconds in which guarded work may end by itself

volatile sig_atomic_t heddle_cli_interrupted;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };

static heddle_cli_gently gently; // valid from the moment `is_gentle` is set
static volatile sig_atomic_t is_gentle;

static struct {
    pthread_mutex_t turn;
    sem_t woken;
    pthread_t waiting;
    bool watched;
    atomic_bool ended;
    void (*take_over)(void *context);
    void *context;
} guard = {.turn = PTHREAD_MUTEX_INITIALIZER};

int heddle_cli_interrupt_code(void)
{
    return HEDDLE_CLI_SIGNALLED + (heddle_cli_interrupted > 0 ? heddle_cli_interrupted : SIGINT);
}

static void on_signal(int number)
{
    int error = errno; // of the interrupted code
    bool again = heddle_cli_interrupted > 0;
    heddle_cli_interrupted = number;
    if (!is_gentle || (again && !gently.patient))
        _exit(HEDDLE_CLI_SIGNALLED + number);
    const char *says = number == SIGINT ? gently.says : gently.says_else;
    if (!again && says && write(STDERR_FILENO, says, strlen(says)) < 0)
        error = errno; // a closed terminal; nothing to do in a handler
    if (!again && gently.also)
        gently.also(number);
    errno = error;
}

void heddle_cli_catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    for (int i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

void heddle_cli_stop_gently(const heddle_cli_gently *how)
{
    is_gentle = 0;
    gently = *how;
    is_gentle = 1;
}

// --- guarded work ----------------------------------------------------------------------------------------------------

static void wake_guard(int number)
{
    (void)number;
    sem_post(&guard.woken);
}

static void *wait_for_signal(void *none)
{
    (void)none;
    while (sem_wait(&guard.woken) != 0 && errno == EINTR) {
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += patience;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!atomic_load(&guard.ended) && (sem_timedwait(&guard.woken, &until) == 0 || errno == EINTR)) {
    }
    pthread_mutex_lock(&guard.turn);
    if (!atomic_load(&guard.ended)) {
        guard.take_over(guard.context);
        fflush(stdout);
        _exit(heddle_cli_interrupt_code());
    }
    pthread_mutex_unlock(&guard.turn);
    return NULL;
}

void heddle_cli_guard_begin(void (*take_over)(void *context), void *context)
{
    sigset_t all, own;
    guard.take_over = take_over;
    guard.context = context;
    sem_init(&guard.woken, 0, 0);
    pthread_mutex_lock(&guard.turn);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &own); // signals go to the working thread
    guard.watched = pthread_create(&guard.waiting, NULL, wait_for_signal, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    heddle_cli_stop_gently(&(heddle_cli_gently){.also = wake_guard});
}

void heddle_cli_guard_away(void *unused, bool away)
{
    (void)unused;
    if (away)
        pthread_mutex_unlock(&guard.turn);
    else
        pthread_mutex_lock(&guard.turn);
}

void heddle_cli_guard_end(void)
{
    heddle_cli_stop_gently(&(heddle_cli_gently){0}); // what is left is short, and a second signal ends it
    atomic_store(&guard.ended, true);
    pthread_mutex_unlock(&guard.turn);
    if (!guard.watched)
        return;
    sem_post(&guard.woken);
    pthread_join(guard.waiting, NULL);
}
