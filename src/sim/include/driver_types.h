// Stands in for CUDA's header of this name. The CUDA runtime's types.
#pragma once

#include "sim/runtime_api.h"
