// Eight channels of a row of 16-bit elements at a time: one 16-byte access if the matrix is aligned, else eight of two
// bytes. For the kernels over rows that are limited by memory bandwidth. Values may be pairs of elements, or bytes.
#pragma once

#include <stdint.h>

#include "ops/cuda/element16.h"

enum { ROWS8 = 8 };

struct rows8 {
    float v[ROWS8];
};

// hi or lo of a pair: a row of a matrix of pairs has all hi first, then all lo.
struct rows_pair_half {
    __half half;
};

// Per value of a matrix: how many 16-bit elements it has, their type, and what a pointer to the first points at.
template <typename Element> struct rows_layout {
    enum { ELEMENTS = 1 };
    typedef Element type, place;
};
template <> struct rows_layout<rows_pair> {
    enum { ELEMENTS = 2 };
    typedef __half type;
    typedef rows_pair_half place;
};

// Where value `at` of a matrix is, in column `column`.
template <typename Element> static __device__ inline Element *rows_at(Element *matrix, size_t at, int column)
{
    return matrix + at;
}

static __device__ inline rows_pair_half *rows_at(rows_pair *matrix, size_t at, int column)
{
    return (rows_pair_half *)matrix + 2 * at - column;
}

static __device__ inline const rows_pair_half *rows_at(const rows_pair *matrix, size_t at, int column)
{
    return (const rows_pair_half *)matrix + 2 * at - column;
}

template <bool Aligned> static __device__ inline uint4 rows8_sixteen_bytes(const void *from)
{
    if (Aligned)
        return *(const uint4 *)from;
    const uint16_t *elements = (const uint16_t *)from;
    uint32_t words[ROWS8 / 2];
#pragma unroll
    for (int i = 0; i < ROWS8 / 2; i++)
        words[i] = elements[2 * i] | (uint32_t)elements[2 * i + 1] << 16;
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// The same of bytes.
template <bool Aligned> static __device__ inline uint2 rows8_eight_bytes(const void *from)
{
    if (Aligned)
        return *(const uint2 *)from;
    const uint8_t *elements = (const uint8_t *)from;
    uint32_t words[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < ROWS8; i++)
        words[i / 4] |= (uint32_t)elements[i] << i % 4 * 8;
    return make_uint2(words[0], words[1]);
}

static __device__ inline rows8 rows8_convert_bytes(const uint2 &bits)
{
    const uint32_t words[2] = {bits.x, bits.y};
    rows8 values;
#pragma unroll
    for (int i = 0; i < ROWS8; i++)
        values.v[i] = (float)(int8_t)(words[i / 4] >> i % 4 * 8);
    return values;
}

template <typename Element> static __device__ inline rows8 rows8_convert(const uint4 &bits)
{
    typedef rows_element<Element> element;
    const uint32_t words[ROWS8 / 2] = {bits.x, bits.y, bits.z, bits.w};
    rows8 values;
#pragma unroll
    for (int i = 0; i < ROWS8 / 2; i++) {
        const float2 two = element::floats(*(const typename element::pair *)&words[i]);
        values.v[2 * i] = two.x;
        values.v[2 * i + 1] = two.y;
    }
    return values;
}

template <bool Aligned, typename Element> static __device__ inline rows8 rows8_load(const Element *from)
{
    if constexpr (sizeof(Element) == 1)
        return rows8_convert_bytes(rows8_eight_bytes<Aligned>(from));
    else
        return rows8_convert<Element>(rows8_sixteen_bytes<Aligned>(from));
}

template <bool Aligned, typename Element> static __device__ inline void rows8_store(Element *to, const rows8 &values)
{
    typedef rows_element<Element> element;
    if constexpr (Aligned && sizeof(Element) == 1) {
        uint32_t words[2] = {0, 0};
#pragma unroll
        for (int i = 0; i < ROWS8; i++)
            words[i / 4] |= (uint32_t)(uint8_t)element::round(values.v[i]) << i % 4 * 8;
        *(uint2 *)to = make_uint2(words[0], words[1]);
    } else if constexpr (Aligned) {
        uint32_t words[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const typename element::pair pair = element::round(values.v[2 * i], values.v[2 * i + 1]);
            words[i] = *(const uint32_t *)&pair;
        }
        *(uint4 *)to = make_uint4(words[0], words[1], words[2], words[3]);
    } else {
#pragma unroll
        for (int i = 0; i < ROWS8; i++)
            to[i] = element::round(values.v[i]);
    }
}

// The same in a matrix of so many columns, which matter to pairs alone.
template <bool Aligned, typename Element> static __device__ inline rows8 rows8_load(const Element *from, int columns)
{
    return rows8_load<Aligned>(from);
}

// Eight values as they lie in memory: a load that nothing waits for until they are converted.
template <typename Element> struct rows8_bits {
    uint4 part[rows_layout<Element>::ELEMENTS];
};
template <> struct rows8_bits<int8_t> {
    uint2 part[1];
};

template <typename Element, bool Aligned>
static __device__ inline rows8_bits<Element> rows8_fetch(const typename rows_layout<Element>::place *from, int columns)
{
    rows8_bits<Element> bits;
#pragma unroll
    for (int i = 0; i < rows_layout<Element>::ELEMENTS; i++)
        if constexpr (sizeof(Element) == 1)
            bits.part[i] = rows8_eight_bytes<Aligned>(from + i * columns);
        else
            bits.part[i] = rows8_sixteen_bytes<Aligned>(from + i * columns);
    return bits;
}

template <typename Element> static __device__ inline rows8 rows8_values(const rows8_bits<Element> &bits)
{
    rows8 values = rows8_convert<typename rows_layout<Element>::type>(bits.part[0]);
    if (rows_layout<Element>::ELEMENTS == 2) {
        const rows8 lo =
            rows8_convert<typename rows_layout<Element>::type>(bits.part[rows_layout<Element>::ELEMENTS - 1]);
#pragma unroll
        for (int i = 0; i < ROWS8; i++)
            values.v[i] += lo.v[i] * rows_pair_unscale;
    }
    return values;
}

template <> __device__ inline rows8 rows8_values<int8_t>(const rows8_bits<int8_t> &bits)
{
    return rows8_convert_bytes(bits.part[0]);
}

template <bool Aligned> static __device__ inline rows8 rows8_load(const rows_pair_half *from, int columns)
{
    return rows8_values(rows8_fetch<rows_pair, Aligned>(from, columns));
}

template <bool Aligned, typename Element>
static __device__ inline void rows8_store(Element *to, int columns, const rows8 &values)
{
    rows8_store<Aligned>(to, values);
}

// To global memory, in one instruction: for pairs, a plain assignment becomes four in some kernels.
static __device__ inline void rows8_put(void *to, const uint32_t (&words)[ROWS8 / 2])
{
    __stwb((uint4 *)to, make_uint4(words[0], words[1], words[2], words[3]));
}

template <bool Aligned> static __device__ inline void rows8_store(rows_pair_half *to, int columns, const rows8 &values)
{
    __half *hi = &to->half, *lo = &to[columns].half;
    if (Aligned) {
        uint32_t upper[4], lower[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            rows_pair_split(values.v[2 * i], values.v[2 * i + 1], (__half2 *)&upper[i], (__half2 *)&lower[i]);
        rows8_put(hi, upper);
        rows8_put(lo, lower);
    } else {
#pragma unroll
        for (int i = 0; i < ROWS8; i++)
            rows_pair_split(values.v[i], hi + i, lo + i);
    }
}

// Threads per block such that each keeps its eight channels from one grid stride to the next: a multiple of the row's
// groups of eight, or simply many if a row has more of them than a block has threads.
static inline unsigned rows8_threads(int channels)
{
    const int groups = channels / ROWS8, most = 256;
    return (unsigned)(groups <= most ? most / groups * groups : most);
}
