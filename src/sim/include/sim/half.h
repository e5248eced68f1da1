// __half and __half2 with CUDA's names: what <cuda_fp16.h> declares.
#pragma once

#include "sim/narrow_conversions.h"
#include "sim/narrow_operations.h"

SIM_NARROW_CLASS(__half, __half_raw, sim::half_format)
SIM_NARROW_PAIR_CLASS(__half, __half2, __half2_raw)
SIM_NARROW_CONVERSIONS(__half, __half2, half, half2)
SIM_NARROW_OPERATIONS(__half, __half2)

typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
typedef __half nv_half;
typedef __half2 nv_half2;

#define CUDART_INF_FP16        __ushort_as_half((unsigned short)0x7c00u)
#define CUDART_NAN_FP16        __ushort_as_half((unsigned short)0x7fffu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001u)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bffu)
#define CUDART_NEG_ZERO_FP16   __ushort_as_half((unsigned short)0x8000u)
#define CUDART_ZERO_FP16       __ushort_as_half((unsigned short)0x0000u)
#define CUDART_ONE_FP16        __ushort_as_half((unsigned short)0x3c00u)
