// Stands in for CUDA's header of this name. cudaProfilerStart and cudaProfilerStop: accepted, and without effect.
#ifndef SIM_CUDA_PROFILER_API_H
#define SIM_CUDA_PROFILER_API_H

#include "sim/runtime_api.h"

#endif
