// exp, tanh and their relatives on floats, without branches, so that gcc and clang turn a loop over them into vector
// code on every target. Accurate to a few units in the last place (tests/ops/test_vector_math.c holds the figures);
// infinities give their limits and NaN stays NaN. Polynomials are minimax fits made for heddle.
#ifndef HEDDLE_OPS_VECTOR_MATH_H
#define HEDDLE_OPS_VECTOR_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t heddle_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float heddle_bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Written as comparisons, not fminf/fmaxf: a NaN must come through.
static inline float heddle_at_most(float x, float most)
{
    return x > most ? most : x;
}

static inline float heddle_at_least(float x, float least)
{
    return x < least ? least : x;
}

// 2^n for n in [-126, 127]. Unsigned inside: behind a NaN stands an arbitrary n, which must wrap quietly.
static inline float heddle_power_of_two(int32_t n)
{
    return heddle_bits_float(((uint32_t)n + 127u) << 23);
}

// Adding this to a small float leaves it rounded to an integer in the low bits of the sum.
static const float heddle_rounder = 12582912.0f; // 1.5 * 2^23

// x = n ln 2 + r with |r| <= ln 2 / 2: gives n and exp(r) - 1.
typedef struct heddle_reduced_exp {
    int32_t n;
    float exp_r_minus_1;
} heddle_reduced_exp;

// The argument is high + low, so that a caller with more than 24 bits of it keeps them; |high + low| < 2^21.
static inline heddle_reduced_exp heddle_exp_reduce(float high, float low)
{
    const float log2_e = 1.44269504f;
    const float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f; // n * ln2_high is exact
    float shifted = (high + low) * log2_e + heddle_rounder;
    float n = shifted - heddle_rounder;
    float r = (high - n * ln2_high) - n * ln2_low + low;
    float p = 0.000199137357f;
    p = p * r + 0.00139403774f;
    p = p * r + 0.00833327416f;
    p = p * r + 0.0416663662f;
    p = p * r + 0.166666672f;
    p = p * r + 0.5f;
    int32_t whole = (int32_t)(heddle_float_bits(shifted) - heddle_float_bits(heddle_rounder));
    return (heddle_reduced_exp){.n = whole, .exp_r_minus_1 = r + r * r * p};
}

// exp(high + low), which must be NaN or in [HEDDLE_EXP_ZERO, HEDDLE_EXP_INFINITY].
static inline float heddle_exp_sum(float high, float low)
{
    heddle_reduced_exp reduced = heddle_exp_reduce(high, low);
    // 2^n in two factors: n reaches beyond the exponents of a float at both ends.
    int32_t half = reduced.n >> 1;
    return (1.0f + reduced.exp_r_minus_1) * heddle_power_of_two(half) * heddle_power_of_two(reduced.n - half);
}

// Where exp has reached 0 and infinity.
#define HEDDLE_EXP_ZERO     (-104.0f)
#define HEDDLE_EXP_INFINITY 89.0f

static inline float heddle_exp(float x)
{
    return heddle_exp_sum(heddle_at_least(heddle_at_most(x, HEDDLE_EXP_INFINITY), HEDDLE_EXP_ZERO), 0.0f);
}

// exp(x) - 1 for x <= 80, without losing digits near 0.
static inline float heddle_expm1(float x)
{
    heddle_reduced_exp reduced = heddle_exp_reduce(heddle_at_least(x, -80.0f), 0.0f);
    float power = heddle_power_of_two(reduced.n);
    return power * reduced.exp_r_minus_1 + (power - 1.0f);
}

// log(1 + x) for x in [0, 1].
static inline float heddle_log1p_unit(float x)
{
    float p = -0.00324400165f;
    p = p * x + 0.0198513493f;
    p = p * x - 0.056959305f;
    p = p * x + 0.106036298f;
    p = p * x - 0.153055757f;
    p = p * x + 0.196759328f;
    p = p * x - 0.249541327f;
    p = p * x + 0.333299637f;
    p = p * x - 0.499999017f;
    return x + x * x * p;
}

static inline float heddle_tanh(float x)
{
    const float reaches_one = 10.0f;
    float e = heddle_expm1(2.0f * heddle_at_most(fabsf(x), reaches_one));
    return copysignf(e / (e + 2.0f), x);
}

static inline float heddle_sigmoid(float x)
{
    float e = heddle_exp(-fabsf(x)); // at most 1, so that neither side overflows
    float positive = 1.0f / (1.0f + e);
    return x < 0.0f ? e * positive : positive;
}

static inline float heddle_softplus(float x)
{
    return heddle_at_least(x, 0.0f) + heddle_log1p_unit(heddle_exp(-fabsf(x)));
}

// exp(-x²/2), the square taken in two parts: rounded to 24 bits it would cost x²/2 units in the last place.
static inline float heddle_exp_minus_half_square(float x)
{
    const float reaches_zero = 14.4f;
    const uint32_t upper_half = 0xfffff000u; // 12 bits of the fraction, whose square is exact
    float size = heddle_at_most(fabsf(x), reaches_zero);
    float high = heddle_bits_float(heddle_float_bits(size) & upper_half);
    return heddle_exp_sum(-0.5f * high * high, -0.5f * (size - high) * (size + high));
}

// The normal distribution's cumulative function, erfc(-x / sqrt 2) / 2, given exp(-x²/2). On both sides it comes from
// the small tail exp(-x²/2) s Q(s) with s = 2 / (2 + |x| / sqrt 2), which keeps its digits far out.
static inline float heddle_normal_cdf(float x, float exp_minus_half_square)
{
    const float beyond = 1e4f; // the tail is 0 long before; keeps infinity out of the division
    const float root_half = 0.707106781f;
    float s = 2.0f / (2.0f + heddle_at_most(fabsf(x), beyond) * root_half);
    float q = 0.0364936441f;
    q = q * s - 0.195336804f;
    q = q * s + 0.39258936f;
    q = q * s - 0.306283802f;
    q = q * s - 0.00609497447f;
    q = q * s + 0.0254100524f;
    q = q * s + 0.0590943657f;
    q = q * s + 0.184422329f;
    q = q * s + 0.24538441f;
    q = q * s + 0.282232016f;
    q = q * s + 0.282089382f;
    float tail = 0.5f * exp_minus_half_square * s * q;
    return x < 0.0f ? tail : 1.0f - tail;
}

#endif
