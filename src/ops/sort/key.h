// The order of keys on a GPU: heddle_sort_bits of sort.h.
#pragma once

#include <cuda_runtime.h>

// A key as an unsigned number that is ordered as keys are; -0 counts as 0.
__device__ static inline unsigned sort_bits(float key)
{
    const unsigned bits = key == 0 ? 0 : __float_as_uint(key);
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}
