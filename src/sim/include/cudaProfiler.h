// Stands in for CUDA's header of this name: the driver API's switches of a profiler, of which there is none.
#pragma once

#include <cuda.h>

SIM_INLINE CUresult cuProfilerStart()
{
    return CUDA_SUCCESS;
}
SIM_INLINE CUresult cuProfilerStop()
{
    return CUDA_SUCCESS;
}
