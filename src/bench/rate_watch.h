// Cuts what is reported of a run into rounds and keeps their rates: no clock and no device of its own, so that a test
// can be both. rate.c feeds it.
#pragma once

#include "heddle/train.h"

// A median of fewer than three rounds would be one of them, or their mean.
enum { HEDDLE_RATE_MIN_ROUNDS = 3, HEDDLE_RATE_MAX_ROUNDS = 64 };

typedef struct heddle_rate_options {
    int batch;
    heddle_tier kernels;
    heddle_arithmetic arithmetic;
    heddle_data_place data; // of training
    bool unordered;         // rungs that add in any order may be used
    double seconds;         // of one round, at least
    int steps;              // of one round, at least
    int rounds;             // the median of them is the rate
    int warm_up;            // steps before the first round; fewer if they take longer than a second
    double sustained;       // seconds to go on after the rounds; 0: none
    // Training must have learnt: a last loss that is not below this after as many steps is HEDDLE_DIVERGED. 0: any is
    // good that is finite.
    double loss_below;
    int loss_steps;
} heddle_rate_options;

typedef struct heddle_rate {
    double images_per_second; // median of the rounds
    double least, most;
    double step_milliseconds;
    int64_t images; // that all rounds took together
    int rounds;
    double round[HEDDLE_RATE_MAX_ROUNDS]; // images per second of each, in order
    double first;                         // when the first steps had ended, as heddle_rate_report.now
    double sustained;                     // images per second in the last half of options.sustained; NAN: not asked for
    heddle_arithmetic arithmetic;         // of products: finer than what was asked for where there are no such kernels
    double loss; // mean over the last images, some hundreds where reports are that small; NAN: of inference
} heddle_rate;

// Steps that have ended since the report before.
typedef struct heddle_rate_report {
    double now;     // seconds on the watch of whoever waits for the result
    int64_t images; // of these steps: a GPU reports several at once
    double loss;    // mean over them; NAN: there is none
    bool late;      // they had ended before `now`, and the device has gone on since: the two do not belong together
} heddle_rate_report;

// What a run is cut into. A piece begins and ends with a report.
typedef enum heddle_rate_piece {
    HEDDLE_RATE_WARM_UP,
    HEDDLE_RATE_ROUND,
    HEDDLE_RATE_SETTLING,  // the first half of options.sustained
    HEDDLE_RATE_SUSTAINED, // the second
    HEDDLE_RATE_OVER,
} heddle_rate_piece;

typedef struct heddle_rate_watch {
    const heddle_rate_options *options;
    heddle_rate_piece piece;
    double first;                // report's time
    double began, last, longest; // of this piece: its beginning, its latest report, the longest time between two
    bool began_late;             // at a report that was
    int64_t images;              // of this piece
    int64_t measured, all;       // of the rounds; of everything, warm-up included
    int done;                    // rounds
    double rate[HEDDLE_RATE_MAX_ROUNDS], sustained; // images per second
    struct heddle_rate_recent {
        double loss_sum;
        int64_t images;
    } recent[2]; // the latest images and those before them: a step's own loss is noise where a batch is small
} heddle_rate_watch;

// `options` stay the caller's.
void heddle_rate_watch_start(heddle_rate_watch *watch, const heddle_rate_options *options, double now);
// True when the run is over.
bool heddle_rate_watch_take(heddle_rate_watch *watch, const heddle_rate_report *report);
double heddle_rate_watch_loss(const heddle_rate_watch *watch);
// When the run is over.
void heddle_rate_watch_sum_up(const heddle_rate_watch *watch, heddle_rate *rate);
