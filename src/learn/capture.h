// What a program prints, read while it runs and kept up to a limit: one that prints for ever fills no memory. Of more
// than that the beginning and the end are kept.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle/status.h"

typedef struct heddle_learn_capture {
    int from, to, ended[2];
    pthread_t reader;
    char *text; // the beginning
    size_t size;
    char *end; // what came behind it last: a ring
    uint64_t behind;
    bool dropped; // something between the two is lost
} heddle_learn_capture;

// The program writes to capture->to.
heddle_status heddle_learn_capture_begin(heddle_learn_capture *capture);
// Ends it and returns the text, which the caller frees; NULL: no memory. It has no zero bytes inside, and a line says
// where something was dropped. A process that is left behind and holds the pipe open is not waited for.
char *heddle_learn_capture_end(heddle_learn_capture *capture);
