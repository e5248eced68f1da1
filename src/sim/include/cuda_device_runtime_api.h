// Stands in for CUDA's header of this name. The runtime's functions for device code. Kernels cannot launch kernels
// here; the host's functions are declared.
#ifndef SIM_CUDA_DEVICE_RUNTIME_API_H
#define SIM_CUDA_DEVICE_RUNTIME_API_H

#include "sim/runtime_api.h"

#endif
