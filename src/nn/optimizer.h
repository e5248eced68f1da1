// What an optimiser's update needs to know at a step: learning rate by schedule, AdamW's bias corrections.
#pragma once

#include "heddle/ops.h"
#include "heddle/train.h"

// "sgd", "constant" and so on, as in flags and checkpoints.
const char *heddle_optimizer_name(heddle_optimizer optimizer);
const char *heddle_schedule_name(heddle_schedule schedule);

// Learning rate of step `step` (from 0) of `steps`.
double heddle_learning_rate(const heddle_train_options *options, int64_t step, int64_t steps);
// All of them at that step. AdamW's corrections go by the updates there have been: steps, but for those left out.
void heddle_hyper_fill(const heddle_train_options *options, int64_t step, int64_t left_out, int64_t steps,
                       float hyper[HEDDLE_HYPER_COUNT]);

// Fails on settings that make no sense.
heddle_status heddle_train_options_check(const heddle_train_options *options);
