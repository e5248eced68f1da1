// Stands in for CUDA's header of this name. The CUDA runtime's C functions.
#pragma once

#include "sim/runtime_api.h"
