// --precision, --data-place, --kernels and what goes with them, as train, eval, predict and bench share them.
#pragma once

#include "cli/cli.h"
#include "heddle/train.h"

// "fp32", "tf32x3", "tf32", "fp16", "bf16", "int8": the command line's names of heddle_arithmetic, in its order;
// NULL-terminated. The second list is without int8, which is for inference.
extern const char *const heddle_cli_precisions[], *const heddle_cli_training_precisions[];
#define HEDDLE_CLI_PRECISION_HELP                                                                                      \
    "lowest precision allowed for multiplications (tf32x3: splits each fp32 number into shorter ones and multiplies "  \
    "them on tensor cores; close to fp32); an operator with no kernel in that precision uses a more precise one; "     \
    "sums and parameters are always fp32"
// Of commands that only run forward.
#define HEDDLE_CLI_PRECISION_FORWARD_HELP                                                                              \
    "lowest precision allowed for multiplications (tf32x3: close to fp32, on tensor cores; int8: weights and "         \
    "activations as bytes, calibrated on training images); sums are fp32, of int8 int32"
#define HEDDLE_CLI_KERNELS_HELP                                                                                        \
    "kernels to use: naive (the first version), tuned (ours, optimised), vendor (OpenBLAS, cuBLAS, cuDNN) or fused "   \
    "(several layers in one kernel)"

// HEDDLE_INVALID if a device of this kind does not support the arithmetic, or the place of the data.
heddle_status heddle_cli_precision_check(heddle_device_kind kind, heddle_arithmetic arithmetic);
heddle_status heddle_cli_data_place_check(heddle_device_kind kind, heddle_data_place place);
