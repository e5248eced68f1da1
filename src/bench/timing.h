// How long a rung takes: cold, one launch at a time, and back to back.
#ifndef HEDDLE_BENCH_TIMING_H
#define HEDDLE_BENCH_TIMING_H

#include "heddle/op.h"

typedef struct heddle_bench_timer heddle_bench_timer;

typedef struct heddle_bench_timing {
    double seconds;      // median of cold launches: the cache holds nothing of the operands
    double low, high;    // a tenth of the launches was faster than low, a tenth slower than high
    double back_to_back; // a launch among many, the cache warm
    int launches;        // cold ones
    bool captured;       // back to back they ran as a graph
    bool settled;        // the median's spread settled before the time was used up
} heddle_bench_timing;

heddle_status heddle_bench_timer_create(heddle_device *device, heddle_stream *stream, heddle_bench_timer **made);
void heddle_bench_timer_destroy(heddle_bench_timer *timer);

// Launches for about `budget` seconds, less when the median settles.
heddle_status heddle_bench_time(heddle_bench_timer *timer, const heddle_op *op, const heddle_rung *rung,
                                const heddle_call *call, double budget, heddle_bench_timing *timing);

// Bytes a second that a copy of memory larger than any cache reads and writes.
heddle_status heddle_bench_copy_bandwidth(heddle_bench_timer *timer, double *bandwidth);

#endif
