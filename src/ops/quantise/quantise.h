// quantise and dequantise: their operators and rungs.
#pragma once

#include <float.h>

#include "heddle/op.h"

extern const heddle_op heddle_op_quantise, heddle_op_dequantise;

// Scale of a row by its largest magnitude; 1 for zeros. Not below the smallest normal number: denormals have fewer
// digits, and a quotient by one could exceed 127.
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline float
    heddle_quantise_scale(float largest)
{
    if (largest == 0.0f)
        return 1.0f;
    float scale = largest / 127.0f;
    return scale < FLT_MIN ? FLT_MIN : scale;
}

heddle_status heddle_quantise_cpu_naive(const heddle_call *call);
heddle_status heddle_dequantise_cpu_naive(const heddle_call *call);
