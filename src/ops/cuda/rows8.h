// Eight channels of a row of 16-bit elements at a time: one 16-byte access if the matrix is aligned, else eight of two
// bytes. For the kernels over rows that are limited by memory bandwidth.
#pragma once

#include <stdint.h>

#include "ops/cuda/element16.h"

enum { ROWS8 = 8 };

struct rows8 {
    float v[ROWS8];
};

template <bool Aligned, typename Element> static __device__ inline rows8 rows8_load(const Element *from)
{
    typedef rows_element<Element> element;
    rows8 values;
    if (Aligned) {
        const uint4 bits = *(const uint4 *)from;
        const uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
        for (int i = 0; i < ROWS8 / 2; i++) {
            const float2 two = element::floats(*(const typename element::pair *)&words[i]);
            values.v[2 * i] = two.x;
            values.v[2 * i + 1] = two.y;
        }
    } else {
#pragma unroll
        for (int i = 0; i < ROWS8; i++)
            values.v[i] = element::number(from[i]);
    }
    return values;
}

template <bool Aligned, typename Element> static __device__ inline void rows8_store(Element *to, const rows8 &values)
{
    typedef rows_element<Element> element;
    if (Aligned) {
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

// Threads per block such that each keeps its eight channels from one grid stride to the next: a multiple of the row's
// groups of eight, or simply many if a row has more of them than a block has threads.
static inline unsigned rows8_threads(int channels)
{
    const int groups = channels / ROWS8, most = 256;
    return (unsigned)(groups <= most ? most / groups * groups : most);
}
