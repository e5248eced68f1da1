// The arithmetics of cnn_step's CUDA rungs, so that each kernel is written once: the type of product operands, the type
// of conv2's stored output, how a float is rounded, and the product of a 16×K by a K×8 fragment on tensor cores.
//
//   cnn_tf32x3  float operands, split in two where they are used: three products, nearly float32
//   cnn_tf32    float operands, rounded to tf32 when stored; conv2's output in half, which has as much mantissa
//   cnn_fp16    half operands; cnn_bf16 bfloat16 operands
//
// A fragment's registers are 32 bits: one float, or two 16-bit operands. K is 32 bytes: 8 floats or 16 of the others,
// so that ldmatrix loads the fragments of all of them from rows of shared memory in the same way.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#include "ops/cuda/mma.h"

#define CNN_DEVICE static __device__ __forceinline__

enum { CNN_FRAGMENT_BYTES = 32 }; // of K in one product

// Gradients between the kernels are those of the sum of losses times gradient_scale: half has no small numbers, and a
// trained network's gradients are small. A power of two, so that it rounds nothing; far enough below half's largest
// number that only a diverging network reaches it, which finish.h detects.
struct cnn_tf32x3 {
    typedef float operand;
    typedef float convolution;
    static constexpr float gradient_scale = 1.0f;
};
struct cnn_tf32 {
    typedef float operand;
    typedef __half convolution;
    static constexpr float gradient_scale = 1.0f;
};
struct cnn_fp16 {
    typedef __half operand;
    typedef __half convolution;
    static constexpr float gradient_scale = 256.0f;
};
struct cnn_bf16 {
    typedef __nv_bfloat16 operand;
    typedef __nv_bfloat16 convolution;
    static constexpr float gradient_scale = 1.0f;
};

// --- rounding --------------------------------------------------------------------------------------------------------

// A value rounded to the arithmetic's operands.
template <typename Arithmetic> CNN_DEVICE typename Arithmetic::operand cnn_round(float value);
template <> __device__ __forceinline__ float cnn_round<cnn_tf32x3>(float value)
{
    return value;
}
template <> __device__ __forceinline__ float cnn_round<cnn_tf32>(float value)
{
    return __uint_as_float(mma_to_tf32(value));
}
template <> __device__ __forceinline__ __half cnn_round<cnn_fp16>(float value)
{
    return __float2half_rn(value);
}
template <> __device__ __forceinline__ __nv_bfloat16 cnn_round<cnn_bf16>(float value)
{
    return __float2bfloat16_rn(value);
}

CNN_DEVICE float cnn_float(float value)
{
    return value;
}
CNN_DEVICE float cnn_float(__half value)
{
    return __half2float(value);
}
CNN_DEVICE float cnn_float(__nv_bfloat16 value)
{
    return __bfloat162float(value);
}

// Two values rounded to 16 bits, in a word.
CNN_DEVICE uint32_t cnn_pair(__half, float first, float second)
{
    const __half2 two = __floats2half2_rn(first, second);
    return *(const uint32_t *)&two;
}
CNN_DEVICE uint32_t cnn_pair(__nv_bfloat16, float first, float second)
{
    const __nv_bfloat162 two = __floats2bfloat162_rn(first, second);
    return *(const uint32_t *)&two;
}

// conv2's output as it is stored. Half has a largest value; whatever exceeds it is far outside the range of batchnorm,
// and stays there.
template <typename Convolution> CNN_DEVICE Convolution cnn_keep(float value);
template <> __device__ __forceinline__ __half cnn_keep<__half>(float value)
{
    return __float2half_rn(fminf(fmaxf(value, -65504.0f), 65504.0f));
}
template <> __device__ __forceinline__ __nv_bfloat16 cnn_keep<__nv_bfloat16>(float value)
{
    return __float2bfloat16_rn(value);
}

// The power of two that scales numbers up to `bound` below 2^15, and so into half's range.
CNN_DEVICE float cnn_half_scale(float bound)
{
    const int exponent = (int)(__float_as_uint(bound) >> 23) - 127, most = 128, least = -100, wanted = 14;
    if (exponent == most || bound == 0.0f) // not a number, or nothing to scale
        return 1.0f;
    return __uint_as_float((uint32_t)(127 + wanted - max(exponent, least)) << 23);
}

// --- products --------------------------------------------------------------------------------------------------------

// sum += a * b by mma.sync, for one fragment of a (16 rows) and of b (8 columns).
template <typename Arithmetic> CNN_DEVICE void cnn_multiply(float sum[4], const uint32_t a[4], const uint32_t b[2]);
template <>
__device__ __forceinline__ void cnn_multiply<cnn_fp16>(float sum[4], const uint32_t a[4], const uint32_t b[2])
{
    mma_m16n8k16_half(sum, a, b, sum);
}
template <>
__device__ __forceinline__ void cnn_multiply<cnn_bf16>(float sum[4], const uint32_t a[4], const uint32_t b[2])
{
    mma_m16n8k16_bfloat16(sum, a, b, sum);
}

// Two products of one a: b has 16 columns.
template <typename Arithmetic>
CNN_DEVICE void cnn_multiply_two(float first[4], float second[4], const uint32_t a[4], const uint32_t b[4])
{
    cnn_multiply<Arithmetic>(first, a, b);
    cnn_multiply<Arithmetic>(second, a, b + 2);
}

// --- several values at once ------------------------------------------------------------------------------------------
// Pointers are aligned to the whole group.

CNN_DEVICE void cnn_load4(float values[4], const float *from)
{
    const float4 four = *(const float4 *)from;
    values[0] = four.x, values[1] = four.y, values[2] = four.z, values[3] = four.w;
}
CNN_DEVICE void cnn_load4(float values[4], const __half *from)
{
    const uint2 bits = *(const uint2 *)from;
    const float2 low = __half22float2(*(const __half2 *)&bits.x), high = __half22float2(*(const __half2 *)&bits.y);
    values[0] = low.x, values[1] = low.y, values[2] = high.x, values[3] = high.y;
}
CNN_DEVICE void cnn_load4(float values[4], const __nv_bfloat16 *from)
{
    const uint2 bits = *(const uint2 *)from; // a bfloat16 is the upper half of a float
    const uint32_t upper = 0xffff0000u;
    values[0] = __uint_as_float(bits.x << 16), values[1] = __uint_as_float(bits.x & upper);
    values[2] = __uint_as_float(bits.y << 16), values[3] = __uint_as_float(bits.y & upper);
}

// Four pixels of an image as bytes of a word, the first lowest. The dataset may lie at any address.
CNN_DEVICE uint32_t cnn_pixels4(const uint8_t *from)
{
    if (((uintptr_t)from & 3) == 0)
        return *(const uint32_t *)from;
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

// Stores what is rounded already.
CNN_DEVICE void cnn_store2(float *to, float first, float second)
{
    *(float2 *)to = make_float2(first, second);
}
CNN_DEVICE void cnn_store2(__half *to, __half first, __half second)
{
    *(__half2 *)to = __halves2half2(first, second);
}
CNN_DEVICE void cnn_store2(__nv_bfloat16 *to, __nv_bfloat16 first, __nv_bfloat16 second)
{
    *(__nv_bfloat162 *)to = __halves2bfloat162(first, second);
}

template <typename Arithmetic> CNN_DEVICE void cnn_store4(float *to, const float values[4])
{
    *(float4 *)to = make_float4(cnn_round<Arithmetic>(values[0]), cnn_round<Arithmetic>(values[1]),
                                cnn_round<Arithmetic>(values[2]), cnn_round<Arithmetic>(values[3]));
}
template <typename Arithmetic, typename Narrow> CNN_DEVICE void cnn_store4(Narrow *to, const float values[4])
{
    *(uint2 *)to = make_uint2(cnn_pair(Narrow(), values[0], values[1]), cnn_pair(Narrow(), values[2], values[3]));
}

// The same to global memory. nvcc splits a vector's assignment and does not always merge it again, and four small
// stores cost four times as many requests; this intrinsic is one store.
template <typename Narrow> CNN_DEVICE void cnn_store4_global(Narrow *to, const float values[4])
{
    __stcg((uint2 *)to, make_uint2(cnn_pair(Narrow(), values[0], values[1]), cnn_pair(Narrow(), values[2], values[3])));
}

// --- relu and pooling ------------------------------------------------------------------------------------------------

// The largest of a window 0 1 over 2 3, or 0; `code` says which it was (the first of equals), CNN_NO_WINNER for 0.
CNN_DEVICE float cnn_relu_pool(float z0, float z1, float z2, float z3, uint32_t *code)
{
    float best = z0;
    uint32_t winner = 0;
    if (z1 > best)
        best = z1, winner = 1;
    if (z2 > best)
        best = z2, winner = 2;
    if (z3 > best)
        best = z3, winner = 3;
    *code = best > 0.0f ? winner : 4;
    return best <= 0.0f ? 0.0f : best; // NaN is preserved
}
