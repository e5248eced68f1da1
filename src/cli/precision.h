// --precision, --data-place and what goes with them, as train, eval, predict and bench share them.
#ifndef HEDDLE_CLI_PRECISION_H
#define HEDDLE_CLI_PRECISION_H

#include "cli/cli.h"
#include "heddle/train.h"

// "fp32", "tf32x3", "tf32", "fp16", "bf16": what a person calls heddle_arithmetic, in its order; NULL-terminated.
extern const char *const heddle_cli_precisions[];
#define HEDDLE_CLI_PRECISION_HELP                                                                                      \
    "the least that products are computed in: fp32, tf32x3 (nearly fp32, on tensor cores), tf32, fp16, bf16; an "      \
    "operator without a rung for it takes a more precise one; sums and parameters are fp32 in all"
// Of commands that only run forward.
#define HEDDLE_CLI_PRECISION_FORWARD_HELP                                                                              \
    "the least that products are computed in: fp32, tf32x3 (nearly fp32, on tensor cores), tf32; fp16 and bf16, "      \
    "which only training has rungs for, are as tf32; sums and parameters are fp32 in all"

// HEDDLE_INVALID where such a device has no such arithmetic, or does not take its data from there.
heddle_status heddle_cli_precision_check(heddle_device_kind kind, heddle_arithmetic arithmetic);
heddle_status heddle_cli_data_place_check(heddle_device_kind kind, heddle_data_place place);

#endif
