// The driver API's errors and device attributes. Their numbers are the runtime API's.
#pragma once

typedef enum cudaError_enum {
#define SIM_DRIVER_ERROR(name, number) name = number,
#include "sim/errors.inc"
} CUresult;

typedef enum CUdevice_attribute_enum {
#define SIM_DRIVER_ATTRIBUTE(name, number) name = number,
#include "sim/attributes.inc"
} CUdevice_attribute;
