// The last words of `heddle train`.
#ifndef HEDDLE_CLI_TRAIN_RESULT_H
#define HEDDLE_CLI_TRAIN_RESULT_H

#include "cli/device.h"
#include "cli/options.h"
#include "heddle/train.h"

typedef struct heddle_cli_trained {
    const heddle_train_result *result;
    const char *folder; // where the checkpoints are
    int epochs;         // asked for
    double until;       // accuracy that was to end the run; 0: none
    int reached_in;     // the epoch that had it; 0: none of those that were trained now
    bool resumed;
    const heddle_cli_json *json;
    const heddle_cli_device *device;
    bool simulated; // on the simulated GPU, where a finding would have been the run's failure
} heddle_cli_trained;

// What came of a run that ended well, and how to go on from there.
heddle_status heddle_cli_print_trained(const heddle_cli_trained *trained);

#endif
