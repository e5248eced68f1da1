// Products of tiles of 16-bit numbers by mma.sync, for attention's rung 5. A warp has 16 rows of a product. Thread
// `lane` has, in element [n][e] of its sums, row lane / 4 + e / 2 * 8 and column 8 n + lane % 4 * 2 + e % 2: of each
// row four threads have a part, and two neighbouring columns are one register of 16-bit numbers.
#pragma once

#include "device/cuda/cuda.h"
#include "ops/attention/attention.h"
#include "ops/cuda/element16.h"
#include "ops/cuda/mma16.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/swizzled.h"

enum {
    MMA_WARPS = 4,
    MMA_THREADS = MMA_WARPS * 32,
    MMA_ROWS = 16, // of a warp
    MMA_BLOCK_ROWS = MMA_WARPS * MMA_ROWS,
    MMA_BYTES = 2, // of a number
};

// Starts to copy rows first to first + Rows of matrix (rows, size) to a swizzled tile (Rows, Size), with zeros beyond.
template <int Rows, int Size>
__device__ static inline void mma_load(unsigned char *tile, const void *matrix, int rows, int size, int first,
                                       bool vectors)
{
    swizzled_load<uint16_t, Rows, Size, MMA_THREADS>(tile, (const uint16_t *)matrix, rows, size, first, 0, vectors);
}

// Two floats as a register of two 16-bit numbers.
template <typename Element> __device__ static inline uint32_t mma_pack(float low, float high)
{
    typename rows_element<Element>::pair both = rows_element<Element>::round(low, high);
    return *(const uint32_t *)&both;
}

// products (16, Columns) = this warp's rows of tile a (MMA_BLOCK_ROWS, Size) * tile b (Columns, Size)ᵀ
template <typename Element, int Columns, int Size>
__device__ static inline void mma_multiply(float (&products)[Columns / 8][4], const unsigned char *a,
                                           const unsigned char *b)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = lane % 8, matrix = lane / 8;
#pragma unroll
    for (int n = 0; n < Columns / 8; n++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            products[n][e] = 0;
#pragma unroll
    for (int d = 0; d < Size; d += 16) {
        uint32_t rows[4];
        ldmatrix_x4(rows,
                    a + swizzled_at<Size * MMA_BYTES>(warp * MMA_ROWS + matrix % 2 * 8 + row, d / 8 + matrix / 2));
#pragma unroll
        for (int n = 0; n < Columns / 8; n += 2) {
            uint32_t columns[4];
            ldmatrix_x4(columns, b + swizzled_at<Size * MMA_BYTES>(n * 8 + matrix / 2 * 8 + row, d / 8 + matrix % 2));
            const uint32_t left[2] = {columns[0], columns[1]}, right[2] = {columns[2], columns[3]};
            mma16(products[n], rows, left, Element());
            mma16(products[n + 1], rows, right, Element());
        }
    }
}

// sums (16, Size) += weights (16, Columns), rounded to 16 bits, * tile b (Columns, Size). What mma.sync gives as sums
// is laid out as it takes rows: the weights stay in their registers.
template <typename Element, int Columns, int Size>
__device__ static inline void mma_add(float (&sums)[Size / 8][4], const float (&weights)[Columns / 8][4],
                                      const unsigned char *b)
{
    const int lane = threadIdx.x % 32, row = lane % 8, matrix = lane / 8;
#pragma unroll
    for (int n = 0; n < Columns / 8; n += 2) {
        const uint32_t rows[4] = {mma_pack<Element>(weights[n][0], weights[n][1]),
                                  mma_pack<Element>(weights[n][2], weights[n][3]),
                                  mma_pack<Element>(weights[n + 1][0], weights[n + 1][1]),
                                  mma_pack<Element>(weights[n + 1][2], weights[n + 1][3])};
#pragma unroll
        for (int d = 0; d < Size / 8; d += 2) {
            uint32_t columns[4];
            ldmatrix_x4_transposed(columns,
                                   b + swizzled_at<Size * MMA_BYTES>(n * 8 + matrix % 2 * 8 + row, d + matrix / 2));
            const uint32_t left[2] = {columns[0], columns[1]}, right[2] = {columns[2], columns[3]};
            mma16(sums[d], rows, left, Element());
            mma16(sums[d + 1], rows, right, Element());
        }
    }
}

// Over the four threads of a row; all of them get the result.
template <bool largest> __device__ static inline float mma_combine(float value)
{
#pragma unroll
    for (int distance = 1; distance < 4; distance *= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, value, distance);
        value = largest ? fmaxf(value, other) : value + other;
    }
    return value;
}

// Stores row `half` (0: lane / 4, 1: 8 further down) of a thread's sums, times a factor, to a row (size) in global
// memory. `pairs`: rows start at multiples of 4 bytes, and two numbers are stored at once.
template <typename Element, int Count>
__device__ static inline void mma_store(Element *row, const float (&sums)[Count][4], int half, float factor, int size,
                                        bool pairs)
{
    typedef rows_element<Element> element;
#pragma unroll
    for (int n = 0; n < Count; n++) {
        const int column = n * 8 + threadIdx.x % 4 * 2;
        const float low = factor * sums[n][half * 2], high = factor * sums[n][half * 2 + 1];
        if (pairs && column < size)
            *(typename element::pair *)(row + column) = element::round(low, high);
        if (!pairs && column < size)
            row[column] = element::round(low);
        if (!pairs && column + 1 < size)
            row[column + 1] = element::round(high);
    }
}

static inline bool mma_pairs(const void *matrix, int size)
{
    return ((uintptr_t)matrix | (uintptr_t)size * MMA_BYTES) % 4 == 0;
}

// As of attention_cuda.h
__device__ static inline int mma_seen(const heddle_attention_shape &shape, int last)
{
    return shape.causal ? min(shape.keys, last + 1) : shape.keys;
}
