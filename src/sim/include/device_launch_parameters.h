// Stands in for CUDA's header of this name. threadIdx, blockIdx and the like: standin.h has them already.
#ifndef SIM_DEVICE_LAUNCH_PARAMETERS_H
#define SIM_DEVICE_LAUNCH_PARAMETERS_H

#include "sim/index.h"

#endif
