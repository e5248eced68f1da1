// The 16-bit floating-point types of rows: bf16, and fp16, which saturates at its largest number instead of becoming
// infinite; and pairs of fp16, hi + lo / 2048, which hold 22 bits of a float. And signed bytes, for inference.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

template <typename Element> struct rows_element;

template <> struct rows_element<__nv_bfloat16> {
    typedef __nv_bfloat162 pair;
    enum { IS_HALF = 0 };

    static __device__ __forceinline__ float number(__nv_bfloat16 from)
    {
        return __bfloat162float(from);
    }
    static __device__ __forceinline__ __nv_bfloat16 round(float value)
    {
        return __float2bfloat16(value);
    }
    static __device__ __forceinline__ pair round(float low, float high)
    {
        return __floats2bfloat162_rn(low, high);
    }
    static __device__ __forceinline__ float2 floats(pair from)
    {
        return __bfloat1622float2(from);
    }
};

template <> struct rows_element<__half> {
    typedef __half2 pair;
    enum { IS_HALF = 1 };

    static __device__ __forceinline__ float cut(float value)
    {
        const float largest = 65504;
        return value > largest ? largest : value < -largest ? -largest : value; // NaN is preserved
    }
    static __device__ __forceinline__ float number(__half from)
    {
        return __half2float(from);
    }
    static __device__ __forceinline__ __half round(float value)
    {
        return __float2half(cut(value));
    }
    static __device__ __forceinline__ pair round(float low, float high)
    {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ >= 13
        pair both; // in one instruction
        asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(*(unsigned *)&both) : "f"(high), "f"(low));
        return both;
#else
        return __floats2half2_rn(cut(low), cut(high));
#endif
    }
    static __device__ __forceinline__ float2 floats(pair from)
    {
        return __half22float2(from);
    }
};

template <> struct rows_element<int8_t> {
    typedef char2 pair;
    enum { IS_HALF = 0 };

    static __device__ __forceinline__ float number(int8_t from)
    {
        return (float)from;
    }
    static __device__ __forceinline__ int8_t round(float value)
    {
        return (int8_t)max(-128, min(127, __float2int_rn(value)));
    }
    static __device__ __forceinline__ pair round(float low, float high)
    {
        return make_char2(round(low), round(high));
    }
    static __device__ __forceinline__ float2 floats(pair from)
    {
        return make_float2((float)from.x, (float)from.y);
    }
};

// Scaled, the lower half of a pair is a normal number wherever the upper one is.
static const float rows_pair_scale = 2048, rows_pair_unscale = 1.0f / 2048;

static __device__ __forceinline__ float rows_pair_join(__half hi, __half lo)
{
    return __half2float(hi) + __half2float(lo) * rows_pair_unscale;
}

static __device__ __forceinline__ float2 rows_pair_join(__half2 hi, __half2 lo)
{
    const float2 upper = __half22float2(hi), lower = __half22float2(lo);
    return make_float2(upper.x + lower.x * rows_pair_unscale, upper.y + lower.y * rows_pair_unscale);
}

static __device__ __forceinline__ void rows_pair_split(float value, __half *hi, __half *lo)
{
    *hi = rows_element<__half>::round(value);
    *lo = rows_element<__half>::round((value - __half2float(*hi)) * rows_pair_scale);
}

// Two values at once: low and high are neighbours.
static __device__ __forceinline__ void rows_pair_split(float low, float high, __half2 *hi, __half2 *lo)
{
    *hi = rows_element<__half>::round(low, high);
    const float2 upper = __half22float2(*hi);
    *lo = rows_element<__half>::round((low - upper.x) * rows_pair_scale, (high - upper.y) * rows_pair_scale);
}

// The type of a matrix of pairs: as large as a pair, but each row has its upper halves first.
struct rows_pair {
    __half halves[2];
};

// Element `place` of a matrix of any of the types, row * columns + column.
template <typename Element>
static __device__ __forceinline__ float rows_read_at(const Element *matrix, size_t place, size_t row, int columns)
{
    return rows_element<Element>::number(matrix[place]);
}

static __device__ __forceinline__ float rows_read_at(const rows_pair *matrix, size_t place, size_t row, int columns)
{
    const __half *hi = (const __half *)matrix + place + row * columns;
    return rows_pair_join(hi[0], hi[columns]);
}

template <typename Element>
static __device__ __forceinline__ void rows_write_at(Element *matrix, size_t place, size_t row, int columns,
                                                     float value)
{
    matrix[place] = rows_element<Element>::round(value);
}

static __device__ __forceinline__ void rows_write_at(rows_pair *matrix, size_t place, size_t row, int columns,
                                                     float value)
{
    __half *hi = (__half *)matrix + place + row * columns;
    rows_pair_split(value, hi, hi + columns);
}

static __device__ __forceinline__ void rows_write_at(float *matrix, size_t place, size_t row, int columns, float value)
{
    matrix[place] = value;
}

// Four neighbours of one row, from `place` on, all at an address that is a multiple of 8.
template <typename Element>
static __device__ __forceinline__ void rows_write_four(Element *matrix, size_t place, size_t row, int columns,
                                                       float4 value)
{
    typename rows_element<Element>::pair two[2] = {rows_element<Element>::round(value.x, value.y),
                                                   rows_element<Element>::round(value.z, value.w)};
    *(uint2 *)(matrix + place) = make_uint2(*(const uint32_t *)&two[0], *(const uint32_t *)&two[1]);
}

static __device__ __forceinline__ void rows_write_four(rows_pair *matrix, size_t place, size_t row, int columns,
                                                       float4 value)
{
    __half *hi = (__half *)matrix + place + row * columns;
    __half2 upper[2], lower[2];
    rows_pair_split(value.x, value.y, &upper[0], &lower[0]);
    rows_pair_split(value.z, value.w, &upper[1], &lower[1]);
    *(uint2 *)hi = make_uint2(*(const uint32_t *)&upper[0], *(const uint32_t *)&upper[1]);
    *(uint2 *)(hi + columns) = make_uint2(*(const uint32_t *)&lower[0], *(const uint32_t *)&lower[1]);
}

// The same by its row and column.
template <typename Element>
static __device__ __forceinline__ float rows_read(const Element *matrix, size_t row, int columns, int column)
{
    return rows_read_at(matrix, row * columns + column, row, columns);
}

template <typename Element>
static __device__ __forceinline__ void rows_write(Element *matrix, size_t row, int columns, int column, float value)
{
    rows_write_at(matrix, row * columns + column, row, columns, value);
}

// Calls function<Element>(call) for the elements that its shape, of that type, asks for.
#define ROWS_WITH_ELEMENT(type, function, call)                                                                        \
    (((const type *)(call)->shape)->pairs  ? function<rows_pair>(call)                                                 \
     : ((const type *)(call)->shape)->half ? function<__half>(call)                                                    \
                                           : function<__nv_bfloat16>(call))
// The same with bytes.
#define ROWS_WITH_ANY_ELEMENT(type, function, call)                                                                    \
    (((const type *)(call)->shape)->int8 ? function<int8_t>(call) : ROWS_WITH_ELEMENT(type, function, call))
