// The epilogue of a convolution: what its kernel does to a sum before it is stored.
#pragma once

template <bool relu> __device__ static inline float conv2d_epilogue(float value)
{
    return relu && value < 0.0f ? 0.0f : value; // in this order NaN is preserved
}
