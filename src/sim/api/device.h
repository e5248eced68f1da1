// The one device, for other parts of the runtime.
#pragma once

#include "sim/runtime_api.h"

cudaError_t sim_device_check(int device); // reports a number other than 0
