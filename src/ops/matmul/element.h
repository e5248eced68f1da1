// Elements of the tensor-core rungs' matrices, float or __nv_bfloat16: from a float, and as a float.
#pragma once

#include <cuda_bf16.h>

template <typename Element> __device__ static inline Element matmul_element(float value);
template <> __device__ inline float matmul_element<float>(float value)
{
    return value;
}
template <> __device__ inline __nv_bfloat16 matmul_element<__nv_bfloat16>(float value)
{
    return __float2bfloat16(value);
}

__device__ static inline float matmul_float(float value)
{
    return value;
}
__device__ static inline float matmul_float(__nv_bfloat16 value)
{
    return __bfloat162float(value);
}
