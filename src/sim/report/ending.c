// How long the run took, and what it did not come to.
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report/internal.h"
#include "report/stopped.h"

static struct timespec start_time;

static void start(void)
{
    clock_gettime(CLOCK_MONOTONIC, &start_time);
}

double sim_report_seconds(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct timespec now;
    pthread_once(&once, start);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start_time.tv_sec) + 1e-9 * (double)(now.tv_nsec - start_time.tv_nsec);
}

bool sim_unchecked_text(const char *status, char *text, size_t bytes)
{
    sim_stopped_text(text, bytes);
    if (text[0] == '\0' && strncmp(status, "crashed", 7) == 0)
        snprintf(text, bytes,
                 "host code crashed: what it would have done next, and work still queued in streams, was not checked; "
                 "fix it and check again");
    return text[0] != '\0';
}
