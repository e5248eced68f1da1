// The first words of `heddle train`.
#ifndef HEDDLE_CLI_TRAIN_HEADER_H
#define HEDDLE_CLI_TRAIN_HEADER_H

#include "cli/device.h"
#include "dist/dist.h"
#include "heddle/heddle.h"

typedef struct heddle_cli_train_header {
    const heddle_cli_device *device;
    const heddle_model *model;
    const heddle_dataset *train, *test;
    const heddle_train_options *options;
    const heddle_ranks *ranks; // NULL: one process by itself
    heddle_dist_choice dist;   // what was asked for
    int threads;               // that were asked for; 0: none were
} heddle_cli_train_header;

// A line on stderr for each setting that is allowed and can hardly be meant.
void heddle_cli_train_warn(const heddle_cli_train_header *header);
// What is about to be trained, on what, where and how.
void heddle_cli_train_header_print(const heddle_cli_train_header *header);

#endif
