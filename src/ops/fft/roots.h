// exp(-2πi index / modulus) as float, without a table: the argument of the sine is exact, or so small that its rounding
// error is below that of the result.
#pragma once

#include <cuda_runtime.h>

// For a modulus that is a power of two up to 2^24; two_over_modulus is 2 / modulus.
__device__ __forceinline__ static float2 fft_root_of_power(unsigned index, float two_over_modulus)
{
    float2 root;
    sincospif((float)index * -two_over_modulus, &root.y, &root.x);
    return root;
}

// Any modulus below 2^31, index below it. The nearest quarter turn is subtracted in integers; that leaves at most an
// eighth on either side.
__device__ __forceinline__ static float2 fft_root(unsigned index, unsigned modulus)
{
    int quarter = __float2int_rn((float)index * (4.0f / (float)modulus));
    int rest = (int)(4 * index - (unsigned)quarter * modulus);
    float sine, cosine;
    sincospif(-0.5f * ((float)rest / (float)modulus), &sine, &cosine);
    float2 even = make_float2(cosine, sine), odd = make_float2(sine, -cosine); // times -i
    float2 root = quarter & 1 ? odd : even;
    return quarter & 2 ? make_float2(-root.x, -root.y) : root;
}
