// Stands in for CUDA's header of this name. threadIdx, blockIdx and the like: standin.h has them already.
#pragma once

#include "sim/index.h"
