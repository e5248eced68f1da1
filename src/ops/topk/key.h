// An element of a row as a number by which it is compared: the larger value first, the lower index first among equal
// ones, and NaN before all others, as in PyTorch. No two elements of a row have the same key, and 0 is none's.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

typedef unsigned long long topk_key;

// Ordered as the floats are: negative ones have all bits turned, and -0 is 0.
__device__ static inline unsigned topk_bits(float value)
{
    if (value != value)
        return 0xffffffffu;
    unsigned bits = value == 0 ? 0 : __float_as_uint(value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ static inline topk_key topk_key_of(float value, int index)
{
    return (topk_key)topk_bits(value) << 32 | (0xffffffffu - (unsigned)index);
}

__device__ static inline int topk_index_of(topk_key key)
{
    return (int)(0xffffffffu - (unsigned)key);
}
