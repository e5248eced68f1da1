// Times rungs in turn. A card that is limited by its power runs faster or slower by what ran just before, so rungs that
// are timed one after the other cannot be compared: here each gets a short slice in every round.
#pragma once

#include <signal.h>

#include "bench/timing.h"

enum { HEDDLE_BENCH_ROUNDS = 1024, HEDDLE_BENCH_WHY = 512 };

typedef struct heddle_bench_timing {
    double seconds;      // median of cold launches: the cache holds nothing of the operands
    double low, high;    // a tenth of the launches was faster than low, a tenth slower than high
    double back_to_back; // one launch among many, with a warm cache
    int launches;        // cold ones that count
    bool captured;       // back to back they ran as a graph
    bool settled;        // the median's spread settled before the time was used up
} heddle_bench_timing;

// A rung among those that are timed together. The first two are the caller's, the rest begins as zeros.
typedef struct heddle_bench_entry {
    heddle_values_work work;
    bool reference; // others are compared with it: it stays in while one about as fast does, for its time at most

    heddle_bench_timing timing;
    double *rounds;             // [HEDDLE_BENCH_ROUNDS] cold median of each round; 0: it had no turn
    heddle_status status;       // not HEDDLE_OK: it failed and has no figures
    char why[HEDDLE_BENCH_WHY]; // it failed
    bool lost;                  // and the device with it

    // The timing's own.
    double *samples;
    int slices;
    double with_flush, launch; // seconds of a launch, roughly, with and without the flush before it
    double spent;              // seconds of cold launches
    int next_look;             // count of launches at which the spread is looked at again
    heddle_graph *graph;
    int row;
} heddle_bench_entry;

typedef struct heddle_bench_rounds_options {
    double seconds;                                     // of cold launches per rung, less once its median settles
    volatile sig_atomic_t *stop;                        // may be NULL
    void (*listener)(void *context, const char *doing); // "timing, round 4"; may be NULL
    void *context;
} heddle_bench_rounds_options;

// What fails is the entry's, and the others go on. HEDDLE_INTERRUPTED when stopped; HEDDLE_DEVICE when the device does
// not recover from what an entry did.
heddle_status heddle_bench_time_in_turn(heddle_bench_timer *timer, heddle_bench_entry *entries, int count,
                                        const heddle_bench_rounds_options *options);
void heddle_bench_entries_free(heddle_bench_entry *entries, int count);

// How many times as fast as `versus` the entry is, by the rounds that both had a turn in.
double heddle_bench_entry_ratio(const heddle_bench_entry *entry, const heddle_bench_entry *versus);
