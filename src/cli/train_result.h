// The result of `heddle train`.
#pragma once

#include "cli/device.h"
#include "cli/options.h"
#include "heddle/train.h"

typedef struct heddle_cli_trained {
    const heddle_train_result *result;
    const char *folder; // where the checkpoints are
    int epochs;         // requested
    double until;       // target accuracy; 0: none
    int reached_in;     // the epoch that reached it; 0: none of this process
    bool resumed;
    const heddle_cli_json *json;
    const heddle_cli_device *device;
    const struct cJSON *profile; // of its steps; NULL: none was taken
    bool simulated;              // on the simulated GPU, where a finding fails the run
} heddle_cli_trained;

// Prints the result of a successful run and what to do next.
heddle_status heddle_cli_print_trained(const heddle_cli_trained *trained);
