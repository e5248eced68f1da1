// heddle_rows_function as device code: the value, and the slope as a function of the value.
#pragma once

#include "heddle/ops.h"
#include "ops/activation/functions.h"

static __device__ __forceinline__ float rows_function(int function, float x)
{
    switch (function) {
    case HEDDLE_ROWS_RELU: return relu_value(x);
    case HEDDLE_ROWS_TANH: return tanh_value(x);
    case HEDDLE_ROWS_SIGMOID: return sigmoid_value(x);
    default: return x;
    }
}

// The same for results that are stored in 16 bits: to about 1e-6, in a few instructions.
static __device__ __forceinline__ float rows_function16(int function, float x)
{
    switch (function) {
    case HEDDLE_ROWS_RELU: return relu_value(x);
    case HEDDLE_ROWS_TANH: return 1.0f - __fdividef(2.0f, 1.0f + __expf(2.0f * x));
    case HEDDLE_ROWS_SIGMOID: return __fdividef(1.0f, 1.0f + __expf(-x));
    default: return x;
    }
}

// What a function's result is multiplied by before it is stored as a byte.
static __device__ __forceinline__ float rows_byte_unit(int function)
{
    return function == HEDDLE_ROWS_TANH || function == HEDDLE_ROWS_SIGMOID ? 127.0f : 1.0f;
}

// A sum of products of bytes as the byte that is stored, not rounded yet.
static __device__ __forceinline__ float rows_requantise(int function, int sum, float scale, float bias)
{
    return rows_function16(function, __fmaf_rn(__int2float_rn(sum), scale, bias)) * rows_byte_unit(function);
}

static __device__ __forceinline__ float rows_slope(int function, float y)
{
    switch (function) {
    case HEDDLE_ROWS_RELU: return y > 0.0f ? 1.0f : 0.0f;
    case HEDDLE_ROWS_TANH: return 1.0f - y * y;
    case HEDDLE_ROWS_SIGMOID: return y * (1.0f - y);
    default: return 1.0f;
    }
}
