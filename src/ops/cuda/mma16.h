// Products of 16-bit elements by mma.sync, chosen by the element's type, for kernels over rows.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ops/cuda/mma.h"

// sums += a b: 16 by 8 by 16
static __device__ __forceinline__ void mma16(float (&sums)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], __half)
{
    mma_m16n8k16_half(sums, a, b, sums);
}

static __device__ __forceinline__ void mma16(float (&sums)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                                             __nv_bfloat16)
{
    mma_m16n8k16_bfloat16(sums, a, b, sums);
}
