// Starting a thread with all signals blocked, so that handlers run in the program's own threads.

#include "base/spawn.h"

#include <signal.h>
#include <string.h>

heddle_status heddle_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *context)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "cannot start thread %s: %s; check `ulimit -u` or use fewer threads",
                           name, strerror(error));
    pthread_setname_np(*thread, name);
    return HEDDLE_OK;
}
