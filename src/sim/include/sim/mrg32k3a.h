// L'Ecuyer's MRG32k3a as he published it ("Good parameters and implementations for combined multiple recursive random
// number generators", 1999): two recurrences of order three, and their matrices' powers for jumping ahead. Seeding and
// what is made of the numbers are curand_kernel.h's.
#pragma once

#include "sim/keywords.h"

namespace sim
{
constexpr unsigned long long mrg_modulus[2] = {4294967087u, 4294944443u};
// x[n] = factor of x[n-1], of x[n-2] (one of them is 0), less that of x[n-3].
constexpr unsigned long long mrg_factor[2][3] = {{0, 1403580, 810728}, {527612, 0, 1370589}};

struct mrg_matrix {
    unsigned at[3][3];
};

constexpr mrg_matrix mrg_square(const mrg_matrix &a, unsigned long long modulus)
{
    mrg_matrix result = {};
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            unsigned long long sum = 0;
            for (int i = 0; i < 3; i++)
                sum = (sum + (unsigned long long)a.at[row][i] * a.at[i][column] % modulus) % modulus;
            result.at[row][column] = (unsigned)sum;
        }
    return result;
}

// Jumps by 2^0, 2^1, ... steps: any number of steps, of subsequences of 2^76 and of sequences of 2^127 is made of them.
enum { MRG_SUBSEQUENCE = 76, MRG_SEQUENCE = 127, MRG_POWERS = MRG_SEQUENCE + 64 };
struct mrg_powers {
    mrg_matrix power[2][MRG_POWERS];
};

constexpr mrg_powers mrg_make_powers()
{
    mrg_powers all = {};
    for (int part = 0; part < 2; part++) {
        unsigned last = (unsigned)(mrg_modulus[part] - mrg_factor[part][2]);
        all.power[part][0] = {
            {{0, 1, 0}, {0, 0, 1}, {last, (unsigned)mrg_factor[part][1], (unsigned)mrg_factor[part][0]}}};
        for (int i = 1; i < MRG_POWERS; i++)
            all.power[part][i] = mrg_square(all.power[part][i - 1], mrg_modulus[part]);
    }
    return all;
}

// Advances one recurrence by n * 2^unit steps.
SIM_UNWATCHED inline void mrg_skip(unsigned state[3], int part, unsigned long long n, int unit)
{
    static constexpr mrg_powers powers = mrg_make_powers();
    for (int i = unit; n != 0; i++, n >>= 1) {
        if (!(n & 1))
            continue;
        unsigned next[3] = {};
        for (int row = 0; row < 3; row++) {
            unsigned long long sum = 0;
            for (int column = 0; column < 3; column++)
                sum += (unsigned long long)powers.power[part][i].at[row][column] * state[column] % mrg_modulus[part];
            next[row] = (unsigned)(sum % mrg_modulus[part]);
        }
        for (int row = 0; row < 3; row++)
            state[row] = next[row];
    }
}

SIM_INLINE unsigned mrg_next(int part, unsigned one_ago, unsigned two_ago, unsigned three_ago)
{
    unsigned long long modulus = mrg_modulus[part];
    unsigned long long less = mrg_factor[part][2] * three_ago % modulus;
    return (unsigned)((mrg_factor[part][0] * one_ago + mrg_factor[part][1] * two_ago + modulus - less) % modulus);
}
} // namespace sim
