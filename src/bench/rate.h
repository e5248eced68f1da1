// How many images a second a whole network trains on or predicts: batch load, forward, backward, update, as the trainer
// really runs them.
#ifndef HEDDLE_BENCH_RATE_H
#define HEDDLE_BENCH_RATE_H

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
    int warm_up;            // steps before the first round; fewer where they take a second
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
    double round[HEDDLE_RATE_MAX_ROUNDS]; // images a second of each, in their order
    double sustained;                     // images a second in the last half of options.sustained; NAN: not asked for
    double loss; // mean over the last images, some hundreds where reports are that small; NAN: of inference
} heddle_rate;

heddle_status heddle_rate_train(heddle_device *device, const heddle_model *model, const heddle_dataset *dataset,
                                const heddle_rate_options *options, heddle_rate *rate);
heddle_status heddle_rate_infer(heddle_device *device, const heddle_model *model, const heddle_dataset *dataset,
                                const heddle_rate_options *options, heddle_rate *rate);

#endif
