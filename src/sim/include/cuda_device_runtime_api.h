// Stands in for CUDA's header of this name. The runtime's functions for device code. Kernels cannot launch kernels
// here; the host's functions are declared.
#pragma once

#include "sim/runtime_api.h"
