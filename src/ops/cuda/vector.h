// Four floats at once: one 16-byte access if a pointer is aligned to 16, else four plain ones. For the rungs that are
// limited by memory bandwidth.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

enum { HEDDLE_VECTOR = 4 }; // floats per access

static inline bool heddle_aligned16(const void *pointer)
{
    return (uintptr_t)pointer % 16 == 0; // NULL, an absent operand, is
}

template <bool aligned> __device__ static inline float4 heddle_load4(const float *from)
{
    if (aligned)
        return *(const float4 *)from;
    return make_float4(from[0], from[1], from[2], from[3]);
}

template <bool aligned> __device__ static inline void heddle_store4(float *to, float4 value)
{
    if (aligned) {
        *(float4 *)to = value;
    } else {
        to[0] = value.x;
        to[1] = value.y;
        to[2] = value.z;
        to[3] = value.w;
    }
}
