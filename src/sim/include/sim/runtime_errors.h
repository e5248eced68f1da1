// The error codes of the CUDA runtime, with CUDA's own names and numbers.
#ifndef SIM_RUNTIME_ERRORS_H
#define SIM_RUNTIME_ERRORS_H

enum cudaError {
#define SIM_RUNTIME_ERROR(name, number, text) name = number,
#include "sim/errors.inc"
};

typedef enum cudaError cudaError_t;

#endif
