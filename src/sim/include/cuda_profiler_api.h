// Stands in for CUDA's header of this name. cudaProfilerStart and cudaProfilerStop: accepted, and without effect.
#pragma once

#include "sim/runtime_api.h"
