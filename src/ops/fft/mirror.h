// Real transforms of 2n reals as complex ones of n pairs: how elements of the two and their mirror images belong
// together.
#pragma once

#include <cuda_runtime.h>

// An element of the transform of reals from the transform of its pairs. z = Z[k], mirror = Z[n - k], rotated by
// exp(-2πi k / 2n).
__device__ __forceinline__ static float2 even_part(float2 z, float2 mirror)
{
    return make_float2(0.5f * (z.x + mirror.x), 0.5f * (z.y - mirror.y));
}

__device__ __forceinline__ static float2 odd_part(float2 z, float2 mirror)
{
    return make_float2(0.5f * (z.y + mirror.y), 0.5f * (mirror.x - z.x));
}

// And back, twice as large: z from X[k] and X[n - k]; `odd` is the rest of their difference, rotated back.
__device__ __forceinline__ static float2 put_together(float2 here, float2 mirror, float2 odd)
{
    return make_float2(here.x + mirror.x - odd.y, here.y - mirror.y + odd.x);
}

__device__ __forceinline__ static float2 difference_of(float2 here, float2 mirror)
{
    return make_float2(here.x - mirror.x, here.y + mirror.y);
}

__device__ __forceinline__ static float2 conjugate(float2 a)
{
    return make_float2(a.x, -a.y);
}
