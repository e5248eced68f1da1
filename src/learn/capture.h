// What a program prints, read while it runs and kept up to a limit: one that prints for ever fills no memory.
#pragma once

#include <pthread.h>
#include <stddef.h>

#include "heddle/status.h"

typedef struct heddle_learn_capture {
    int from, to, ended[2];
    pthread_t reader;
    char *text;
    size_t size;
} heddle_learn_capture;

// The program writes to capture->to.
heddle_status heddle_learn_capture_begin(heddle_learn_capture *capture);
// Ends it and returns the text, which the caller frees; NULL: no memory. A process that is left behind and holds the
// pipe open is not waited for.
char *heddle_learn_capture_end(heddle_learn_capture *capture);
