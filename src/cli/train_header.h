// The header of `heddle train`.
#pragma once

#include "cli/device.h"
#include "dist/dist.h"
#include "heddle/heddle.h"

typedef struct heddle_cli_train_header {
    const heddle_cli_device *device;
    const heddle_model *model;
    const heddle_dataset *train, *test;
    const heddle_train_options *options;
    const heddle_ranks *ranks; // NULL: a single process
    heddle_dist_choice dist;   // as requested
    int threads;               // as requested; 0: not given
} heddle_cli_train_header;

// Prints one line on stderr for each setting that is allowed but probably not intended.
void heddle_cli_train_warn(const heddle_cli_train_header *header);
// Prints what is trained, on what data, where and how.
void heddle_cli_train_header_print(const heddle_cli_train_header *header);
