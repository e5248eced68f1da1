// Products of 16 pixels by 8 channels over 16 columns on tensor cores, from float32: each factor is rounded to tf32,
// or, with three passes, is the sum of two numbers in tf32.
#pragma once

#include "ops/predict_one/kernel.h"

// A lane's columns 4 * j to 4 * j + 3 stand for columns j, j + 4 of two products: the order of the columns is free, as
// long as both factors have the same.
template <int Passes> struct predict_tensor {
    typedef float sums[4];

    struct rows {
        uint32_t upper[2][4], lower[2][4];

        __device__ rows(const float4 &low, const float4 &high)
        {
            const float values[2][4] = {{low.x, high.x, low.y, high.y}, {low.z, high.z, low.w, high.w}};
#pragma unroll
            for (int i = 0; i < 8; i++)
                split(values[i / 4][i % 4], &upper[i / 4][i % 4], &lower[i / 4][i % 4]);
        }
    };

    static __device__ __forceinline__ void split(float value, uint32_t *upper, uint32_t *lower)
    {
        *upper = mma_to_tf32(value);
        *lower = Passes > 1 ? mma_to_tf32(value - __uint_as_float(*upper)) : 0;
    }

    static __device__ __forceinline__ void multiply(sums &sums, const rows &a, const float4 &b, float4 *)
    {
        const float values[2][2] = {{b.x, b.y}, {b.z, b.w}};
#pragma unroll
        for (int i = 0; i < 2; i++) {
            uint32_t upper[2], lower[2];
            split(values[i][0], &upper[0], &lower[0]);
            split(values[i][1], &upper[1], &lower[1]);
            if (Passes > 1) {
                mma_m16n8k8_tf32(sums, a.lower[i], upper, sums);
                mma_m16n8k8_tf32(sums, a.upper[i], lower, sums);
            }
            mma_m16n8k8_tf32(sums, a.upper[i], upper, sums);
        }
    }

    static __device__ __forceinline__ void clear(sums &sums)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
            sums[i] = 0;
    }

    // Whether something that was multiplied was NaN, in one of the two pixels.
    static __device__ __forceinline__ bool is_missing(const sums &sums)
    {
        return isnan(sums[0] + sums[2]);
    }

    static __device__ __forceinline__ void leave(const sums &sums, float (&four)[4])
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
            four[i] = sums[i];
    }
};
