// mma.sync and ldmatrix, for what the rewriter makes of inline PTX (sim/ptx.h): the last lane of the warp to come
// gathers the fragments into matrices, multiplies, and gives each lane its part. Products are exact, sums are floats in
// ascending order of k.
#pragma once

#include <math.h>

#include "sim/library.h"

namespace sim
{
enum : int { MMA_LANES = 32, MMA_M = 16, MMA_N = 8 };

// A lane's row and column in the fragments: PTX calls them groupID and threadID_in_group.
SIM_UNWATCHED inline int mma_group(int lane)
{
    return lane / 4;
}
SIM_UNWATCHED inline int mma_member(int lane)
{
    return lane % 4;
}

// One way to read the parts of a 32-bit register, for each element type.
struct mma_tf32 {
    enum : int { K_ = 8, PARTS = 1 };
    typedef float sum;
    SIM_UNWATCHED static float part(uint32_t bits, int)
    {
        float value;
        bits &= 0xffffe000u; // the tensor cores drop what tf32 has not
        __builtin_memcpy(&value, &bits, sizeof value);
        return value;
    }
};

struct mma_half {
    enum : int { K_ = 16, PARTS = 2 };
    typedef float sum;
    SIM_UNWATCHED static float part(uint32_t bits, int index)
    {
        uint32_t half = bits >> (16 * index) & 0xffff, exponent = half >> 10 & 31, fraction = half & 1023;
        float value = exponent == 0    ? ldexpf((float)fraction, -24)
                      : exponent == 31 ? (fraction ? NAN : INFINITY)
                                       : ldexpf((float)(fraction + 1024), (int)exponent - 25);
        return half & 0x8000 ? -value : value;
    }
};

struct mma_bfloat16 {
    enum : int { K_ = 16, PARTS = 2 };
    typedef float sum;
    SIM_UNWATCHED static float part(uint32_t bits, int index)
    {
        float value;
        bits = bits >> (16 * index) << 16;
        __builtin_memcpy(&value, &bits, sizeof value);
        return value;
    }
};

struct mma_int8 {
    enum : int { K_ = 32, PARTS = 4 };
    typedef int sum;
    SIM_UNWATCHED static int part(uint32_t bits, int index)
    {
        return (signed char)(bits >> (8 * index));
    }
};

template <class Sum> struct mma_fragments {
    Sum *d;
    const uint32_t *a, *b;
    const Sum *c;
};

// Rows of A come from registers 0 and 1, 8 apart; its right half, and B's lower one, from the registers behind them.
template <class Type> SIM_UNWATCHED inline void mma_all(void **arguments, unsigned)
{
    typedef typename Type::sum sum;
    enum : int { HALF_K = Type::K_ / 2 };
    sum a[MMA_M][Type::K_], b[Type::K_][MMA_N];
    for (int lane = 0; lane < MMA_LANES; lane++) {
        const mma_fragments<sum> *mine = static_cast<const mma_fragments<sum> *>(arguments[lane]);
        for (int part = 0; part < Type::PARTS; part++) {
            int k = mma_member(lane) * Type::PARTS + part;
            for (int i = 0; i < 4; i++)
                a[mma_group(lane) + 8 * (i & 1)][k + HALF_K * (i >> 1)] = Type::part(mine->a[i], part);
            for (int i = 0; i < 2; i++)
                b[k + HALF_K * i][mma_group(lane)] = Type::part(mine->b[i], part);
        }
    }
    for (int lane = 0; lane < MMA_LANES; lane++) {
        const mma_fragments<sum> *mine = static_cast<const mma_fragments<sum> *>(arguments[lane]);
        for (int i = 0; i < 4; i++) {
            int row = mma_group(lane) + 8 * (i >> 1), column = 2 * mma_member(lane) + (i & 1);
            sum total = mine->c[i];
            for (int k = 0; k < Type::K_; k++)
                total += a[row][k] * b[k][column];
            mine->d[i] = total;
        }
    }
}

template <class Type>
SIM_INLINE void mma(typename Type::sum *d, const uint32_t *a, const uint32_t *b, const typename Type::sum *c)
{
    uint32_t own_a[4] = {a[0], a[1], a[2], a[3]}, own_b[2] = {b[0], b[1]};
    typename Type::sum own_c[4] = {c[0], c[1], c[2], c[3]}, own_d[4] = {};
    mma_fragments<typename Type::sum> mine = {own_d, own_a, own_b, own_c};
    sim_warp_matrix(&mine, mma_all<Type>);
    for (int i = 0; i < 4; i++)
        d[i] = own_d[i];
}

struct ldmatrix_part {
    const void *row;
    uint32_t result[4];
};

// The 8 rows of matrix i are the addresses of lanes 8 i to 8 i + 7.
template <int Matrices, bool Transposed> SIM_UNWATCHED inline void ldmatrix_all(void **arguments, unsigned)
{
    for (int matrix = 0; matrix < Matrices; matrix++) {
        uint16_t element[8][8];
        for (int row = 0; row < 8; row++)
            __builtin_memcpy(element[row], static_cast<ldmatrix_part *>(arguments[8 * matrix + row])->row,
                             sizeof element[row]);
        for (int lane = 0; lane < MMA_LANES; lane++) {
            int row = mma_group(lane), column = 2 * mma_member(lane);
            uint32_t low = Transposed ? element[column][row] : element[row][column];
            uint32_t high = Transposed ? element[column + 1][row] : element[row][column + 1];
            static_cast<ldmatrix_part *>(arguments[lane])->result[matrix] = low | high << 16;
        }
    }
}

template <int Matrices, bool Transposed> SIM_INLINE void ldmatrix(uint32_t *d, const void *row)
{
    const size_t row_bytes = 16;
    ldmatrix_part mine = {row, {0, 0, 0, 0}};
    if (sim_register_special(SIM_LANE_ID) < 8 * Matrices)
        SIM_TOUCH(row, row_bytes, 0);
    sim_warp_matrix(&mine, ldmatrix_all<Matrices, Transposed>);
    for (int i = 0; i < Matrices; i++)
        d[i] = mine.result[i];
}
} // namespace sim
