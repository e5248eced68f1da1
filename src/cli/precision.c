// Checks --precision and --data-place against the device.

#include "cli/precision.h"

const char *const heddle_cli_precisions[] = {"fp32", "tf32x3", "tf32", "fp16", "bf16", "int8", NULL};
const char *const heddle_cli_training_precisions[] = {"fp32", "tf32x3", "tf32", "fp16", "bf16", NULL};

heddle_status heddle_cli_precision_check(heddle_device_kind kind, heddle_arithmetic arithmetic)
{
    if (arithmetic == HEDDLE_FULL || arithmetic == HEDDLE_INT8 || kind != HEDDLE_CPU)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID, "--precision %s needs --device cuda or --device sim: the CPU computes in fp32",
                       heddle_cli_precisions[arithmetic]);
}

heddle_status heddle_cli_data_place_check(heddle_device_kind kind, heddle_data_place place)
{
    if (place == HEDDLE_DATA_AUTO || kind != HEDDLE_CPU)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID, "--data-place %s needs --device cuda: the CPU reads the dataset where it is",
                       heddle_data_place_names[place]);
}
