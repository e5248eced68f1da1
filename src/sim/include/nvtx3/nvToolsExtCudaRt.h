// NVTX's names for objects of the CUDA runtime, which nobody reads here.
#pragma once

#include <wchar.h>

#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>

#define SIM_NVTX_NAME(function, type, character)                                                                       \
    SIM_NVTX void function(type object, const character *name)                                                         \
    {                                                                                                                  \
        (void)object;                                                                                                  \
        (void)name;                                                                                                    \
    }
SIM_NVTX_NAME(nvtxNameCudaDeviceA, int, char)
SIM_NVTX_NAME(nvtxNameCudaDeviceW, int, wchar_t)
SIM_NVTX_NAME(nvtxNameCudaStreamA, cudaStream_t, char)
SIM_NVTX_NAME(nvtxNameCudaStreamW, cudaStream_t, wchar_t)
SIM_NVTX_NAME(nvtxNameCudaEventA, cudaEvent_t, char)
SIM_NVTX_NAME(nvtxNameCudaEventW, cudaEvent_t, wchar_t)
#undef SIM_NVTX_NAME

#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent  nvtxNameCudaEventA
