// Seconds of a clock of the host.
#pragma once

#include <time.h>

static inline double sim_seconds(clockid_t clock)
{
    struct timespec time;
    return clock_gettime(clock, &time) == 0 ? (double)time.tv_sec + 1e-9 * (double)time.tv_nsec : 0;
}
