// Stands in for CUDA's header of this name. The CUDA runtime's C functions.
#ifndef SIM_CUDA_RUNTIME_API_H
#define SIM_CUDA_RUNTIME_API_H

#include "sim/runtime_api.h"

#endif
