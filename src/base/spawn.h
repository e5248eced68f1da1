// Starting a thread of the library's own.
#pragma once

#include <pthread.h>

#include "heddle/status.h"

// Starts run(context) in a thread called `name` (up to 15 characters, for debuggers) that takes no signals but those
// of its own faults: the others are the program's, and a handler must not find itself in the middle of library code.
heddle_status heddle_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *context);
