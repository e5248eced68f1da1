// Stands in for CUDA's header of this name. The CUDA runtime's types.
#ifndef SIM_DRIVER_TYPES_H
#define SIM_DRIVER_TYPES_H

#include "sim/runtime_api.h"

#endif
