// What a launch that fails leaves behind; the numbers are cudaError_t's.
#pragma once

enum {
    SIM_ERROR_MEMORY = 2,
    SIM_ERROR_ILLEGAL_ADDRESS = 700,
    SIM_ERROR_TIMEOUT = 702,
    SIM_ERROR_ASSERT = 710,
    SIM_ERROR_MISALIGNED = 716,
    SIM_ERROR_FAILURE = 719,
    SIM_ERROR_UNSUPPORTED = 801,
};
