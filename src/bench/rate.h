// How many images a second a whole network trains on or predicts: batch load, forward, backward, update, as the trainer
// really runs them.
#ifndef HEDDLE_BENCH_RATE_H
#define HEDDLE_BENCH_RATE_H

#include "heddle/train.h"

enum { HEDDLE_RATE_MAX_ROUNDS = 64 };

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
} heddle_rate_options;

typedef struct heddle_rate {
    double images_per_second; // median of the rounds
    double least, most;
    double step_milliseconds;
    int64_t images; // that all rounds took together
} heddle_rate;

heddle_status heddle_rate_train(heddle_device *device, const heddle_model *model, const heddle_dataset *dataset,
                                const heddle_rate_options *options, heddle_rate *rate);
heddle_status heddle_rate_infer(heddle_device *device, const heddle_model *model, const heddle_dataset *dataset,
                                const heddle_rate_options *options, heddle_rate *rate);

#endif
