// __nv_bfloat16 and __nv_bfloat162 with CUDA's names: what <cuda_bf16.h> declares.
#pragma once

#include "sim/narrow_conversions.h"
#include "sim/narrow_operations.h"

SIM_NARROW_CLASS(__nv_bfloat16, __nv_bfloat16_raw, sim::bfloat_format)
SIM_NARROW_PAIR_CLASS(__nv_bfloat16, __nv_bfloat162, __nv_bfloat162_raw)
SIM_NARROW_CONVERSIONS(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162)
SIM_NARROW_OPERATIONS(__nv_bfloat16, __nv_bfloat162)

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16        __ushort_as_bfloat16((unsigned short)0x7f80u)
#define CUDART_NAN_BF16        __ushort_as_bfloat16((unsigned short)0x7fffu)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001u)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7fu)
#define CUDART_NEG_ZERO_BF16   __ushort_as_bfloat16((unsigned short)0x8000u)
#define CUDART_ZERO_BF16       __ushort_as_bfloat16((unsigned short)0x0000u)
#define CUDART_ONE_BF16        __ushort_as_bfloat16((unsigned short)0x3f80u)
