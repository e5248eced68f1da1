// How long one launch of a rung takes: cold, back to back, and whether that is all of its work. Which rung is launched
// when, and what is made of the times, is rounds.h's.
#pragma once

#include "heddle/op.h"

typedef struct heddle_bench_timer heddle_bench_timer;

// What is launched.
typedef struct heddle_values_work {
    const heddle_op *op;
    const heddle_rung *rung;
    heddle_call call;
} heddle_values_work;

enum { HEDDLE_BENCH_BATCH = 64 }; // most launches behind which one wait stands

// A launch that takes longer than this gets the fewest there may be, of every kind.
extern const double heddle_bench_slow_launch;

heddle_status heddle_bench_timer_create(heddle_device *device, heddle_stream *stream, heddle_bench_timer **made);
void heddle_bench_timer_destroy(heddle_bench_timer *timer);
// After an out-of-bounds access, CUDA fails every call until the process ends: whatever ran next would be blamed for
// it. NULL: never.
bool heddle_bench_timer_is_lost(const heddle_bench_timer *timer);

// Drops what the cache was told to keep.
heddle_status heddle_bench_timer_reset(heddle_bench_timer *timer);
// Fails when what was just launched set part of the cache aside for lines that stay, and takes it back: such a cache is
// not cold.
heddle_status heddle_bench_check_cache(heddle_bench_timer *timer);
// Fails when the device works on after the rung's stream is done: what a rung puts on another stream is not between the
// events, and would be in another rung's time. `seconds` is about what a launch takes.
heddle_status heddle_bench_check_stream(heddle_bench_timer *timer, const heddle_values_work *work, double seconds);

// Launches until `seconds` have passed, at least once; says how long a launch with its flush takes, and the last
// one without (`alone`).
heddle_status heddle_bench_warm_up(heddle_bench_timer *timer, const heddle_values_work *work, double seconds,
                                   double *with_flush, double *alone);
// Seconds of each of `count` launches, at most a batch, every one behind a flush.
heddle_status heddle_bench_time_cold(heddle_bench_timer *timer, const heddle_values_work *work, int count,
                                     double *samples);

// How many launches make a row when one takes `seconds`.
int heddle_bench_row_length(double seconds);
// The row as a graph; NULL when the rung cannot be captured: it then runs as it is.
heddle_graph *heddle_bench_capture_row(heddle_bench_timer *timer, const heddle_values_work *work, int count);
// Seconds of a launch among `count` back to back, the cache warm.
heddle_status heddle_bench_time_row(heddle_bench_timer *timer, const heddle_values_work *work, int count,
                                    heddle_graph *graph, double *seconds);

// Bytes a second that a copy of memory larger than any cache reads and writes.
heddle_status heddle_bench_copy_bandwidth(heddle_bench_timer *timer, double *bandwidth);
