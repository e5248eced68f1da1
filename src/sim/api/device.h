// The one device, for other parts of the runtime.
#ifndef SIM_DEVICE_H
#define SIM_DEVICE_H

#include "sim/runtime_api.h"

cudaError_t sim_device_check(int device); // reports a number other than 0

#endif
