// The last words of `heddle train`.
#ifndef HEDDLE_CLI_TRAIN_RESULT_H
#define HEDDLE_CLI_TRAIN_RESULT_H

#include "heddle/train.h"

typedef struct heddle_cli_trained {
    const heddle_train_result *result;
    const char *folder; // where the checkpoints are
    int epochs;         // asked for
    double until;       // accuracy that was to end the run; 0: none
    int reached_in;     // the epoch that had it; 0: none of those that were trained now
    bool resumed, json;
    bool simulated; // on the simulated GPU, where a finding would have been the run's failure
} heddle_cli_trained;

// What came of a run that ended well, and how to go on from there.
void heddle_cli_print_trained(const heddle_cli_trained *trained);

#endif
