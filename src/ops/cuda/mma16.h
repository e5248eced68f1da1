// Products of 16-bit elements, or of two bytes in place of each, by mma.sync, chosen by the element's type, for kernels
// over rows.
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

// 16 by 8 by 32
static __device__ __forceinline__ void mma16(int (&sums)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], int8_t)
{
    mma_m16n8k32_int8(sums, a, b, sums);
}

// What their sums are.
template <typename Element> struct mma16_sum {
    typedef float type;
};
template <> struct mma16_sum<int8_t> {
    typedef int type;
};
