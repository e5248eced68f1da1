// Starting a thread with signals blocked, so that handlers run in the program's own threads. What a fault in the thread
// itself raises stays open, for sanitizers, profilers and crash handlers.

#include "base/spawn.h"

#include <signal.h>
#include <string.h>

static const int own_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};

heddle_status heddle_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *context)
{
    sigset_t blocked;
    sigset_t before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own_signals / sizeof *own_signals; i++)
        sigdelset(&blocked, own_signals[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    int error = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "cannot start thread %s: %s; check `ulimit -u` or use fewer threads",
                           name, strerror(error));
    pthread_setname_np(*thread, name);
    return HEDDLE_OK;
}
