// What --precision and --data-place may be on which device, said before anything is opened.

#include "cli/precision.h"

#include <string.h>

const char *const heddle_cli_precisions[] = {"fp32", "tf32x3", "tf32", "fp16", "bf16", NULL};

heddle_status heddle_cli_precision_check(const char *device, heddle_arithmetic arithmetic)
{
    if (arithmetic == HEDDLE_FULL || strcmp(device, "cpu") != 0)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID,
                       "--precision %s needs --device cuda: the CPU's operators compute in fp32 (--device sim, the "
                       "simulated GPU, takes it too)",
                       heddle_cli_precisions[arithmetic]);
}

heddle_status heddle_cli_data_place_check(const char *device, heddle_data_place place)
{
    if (place == HEDDLE_DATA_AUTO || strcmp(device, "cpu") != 0)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID,
                       "--data-place %s needs --device cuda: the CPU trains from where the dataset is already",
                       heddle_data_place_names[place]);
}
