// bfloat16: the upper half of a float.
#ifndef HEDDLE_BASE_BFLOAT16_H
#define HEDDLE_BASE_BFLOAT16_H

#include <stdint.h>
#include <string.h>

static inline float heddle_bf16_decode(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The nearest one, ties to even.
static inline uint16_t heddle_bf16_encode(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value)
        return (uint16_t)(bits >> 16 | 0x40); // a NaN stays one, whatever bits are cut off
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#endif
