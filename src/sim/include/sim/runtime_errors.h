// The error codes of the CUDA runtime, with CUDA's own names and numbers.
#pragma once

enum cudaError {
#define SIM_RUNTIME_ERROR(name, number, text) name = number,
#include "sim/errors.inc"
};

typedef enum cudaError cudaError_t;
