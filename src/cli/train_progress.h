// The progress of `heddle train`.
#pragma once

#include "base/progress.h"
#include "cli/device.h"
#include "cli/options.h"
#include "heddle/train.h"

typedef struct heddle_cli_training {
    const heddle_cli_json *json;
    const heddle_cli_device *device;
    bool quiet, resume;
    double until; // target accuracy; 0: none
    int batch;
    bool silent;              // not the rank that prints
    volatile int epoch, step; // completed; read by another thread when a rank is lost
    bool saved;               // there is a checkpoint to resume from
    int reached_in;           // first epoch of this process that reached --until; 0: none
    bool target_reached;      // this ends the run, not a signal
    heddle_progress *bar;
    heddle_progress_state state;
    double epoch_began; // on the training clock
} heddle_cli_training;

// The listener of a run; the context is its heddle_cli_training.
void heddle_cli_training_event(void *context, const heddle_train_event *event);
// Ends a bar that is still shown.
void heddle_cli_training_end(heddle_cli_training *shown);
