// Division by a number that all threads share, without dividing: the host computes a factor, and a kernel multiplies
// and shifts. For kernels that number the items of images consecutively: a 32-bit division takes about twenty
// instructions.
#pragma once

#include <stdint.h>

// Exact for numbers below 2^31.
struct heddle_divisor {
    uint32_t factor, shift, by;
};

static inline heddle_divisor heddle_divisor_of(int by)
{
    heddle_divisor divisor = {0, 0, (uint32_t)by};
    while ((1u << divisor.shift) < divisor.by)
        divisor.shift++;
    divisor.factor = (uint32_t)(((1ull << 32) * ((1ull << divisor.shift) - divisor.by)) / divisor.by + 1);
    return divisor;
}

// The quotient; *rest is the remainder.
static __device__ __forceinline__ uint32_t heddle_divide(uint32_t number, const heddle_divisor &divisor, uint32_t *rest)
{
    const uint32_t quotient = (__umulhi(number, divisor.factor) + number) >> divisor.shift;
    *rest = number - quotient * divisor.by;
    return quotient;
}
