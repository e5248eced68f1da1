// exp, tanh and their relatives on floats, without branches, so that gcc and clang turn a loop over them into vector
// code on every target. Accurate to a few units in the last place (tests/ops/test_vector_math.c holds the figures);
// infinities give their limits and NaN stays NaN. Polynomials are minimax fits made for heddle.
#pragma once

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

// x moved towards 0 until |x| <= most, by comparing bits as integers: a comparison of floats with a constant would be
// compiled to a branch, with two copies of the code after it. NaN becomes a number; heddle_keep_nan restores it.
static inline float heddle_clamp_size(float x, float most)
{
    uint32_t size = heddle_float_bits(x) & 0x7fffffffu, limit = heddle_float_bits(most);
    return copysignf(heddle_bits_float(size < limit ? size : limit), x);
}

// x if its sign is +, else 0; and the reverse.
static inline float heddle_positive_part(float x)
{
    uint32_t bits = heddle_float_bits(x);
    return heddle_bits_float(bits & ((bits >> 31) - 1u));
}

static inline float heddle_negative_part(float x)
{
    uint32_t bits = heddle_float_bits(x);
    return heddle_bits_float(bits & (0u - (bits >> 31)));
}

// `result`, or x if x is NaN.
static inline float heddle_keep_nan(float x, float result)
{
    return x == x ? result : x;
}

// 2^n for n in [-126, 127]. Unsigned inside: for NaN n is arbitrary and must wrap without overflow.
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

// Beyond this magnitude exp has reached 0 and infinity.
#define HEDDLE_EXP_END 104.2f

// exp(high + low); the magnitude of the sum must be at most HEDDLE_EXP_END.
static inline float heddle_exp_sum(float high, float low)
{
    heddle_reduced_exp reduced = heddle_exp_reduce(high, low);
    // 2^n in two factors: n reaches beyond the exponents of a float at both ends.
    int32_t half = reduced.n >> 1;
    return (1.0f + reduced.exp_r_minus_1) * heddle_power_of_two(half) * heddle_power_of_two(reduced.n - half);
}

static inline float heddle_exp(float x)
{
    return heddle_keep_nan(x, heddle_exp_sum(heddle_clamp_size(x, HEDDLE_EXP_END), 0.0f));
}

// exp(x) - 1 without losing digits near 0; the magnitude of x must be at most 80.
static inline float heddle_expm1_bounded(float x)
{
    heddle_reduced_exp reduced = heddle_exp_reduce(x, 0.0f);
    float power = heddle_power_of_two(reduced.n);
    return power * reduced.exp_r_minus_1 + (power - 1.0f);
}

// exp(x) - 1 for x <= 80.
static inline float heddle_expm1(float x)
{
    return heddle_keep_nan(x, heddle_expm1_bounded(heddle_clamp_size(x, 80.0f)));
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
    float e = heddle_expm1_bounded(2.0f * heddle_clamp_size(fabsf(x), reaches_one));
    return heddle_keep_nan(x, copysignf(e / (e + 2.0f), x));
}

static inline float heddle_sigmoid(float x)
{
    float e = heddle_exp(-fabsf(x)); // at most 1, so that neither side overflows
    float positive = 1.0f / (1.0f + e);
    return x < 0.0f ? e * positive : positive;
}

static inline float heddle_softplus(float x)
{
    return heddle_positive_part(x) + heddle_log1p_unit(heddle_exp(-fabsf(x)));
}

// exp(-x²/2), the square taken in two parts: rounded to 24 bits it would cost x²/2 units in the last place.
static inline float heddle_exp_minus_half_square(float x)
{
    const float reaches_zero = 14.43f;
    const uint32_t upper_half = 0xfffff000u; // 12 bits of the fraction, whose square is exact
    float size = heddle_clamp_size(fabsf(x), reaches_zero);
    float high = heddle_bits_float(heddle_float_bits(size) & upper_half);
    return heddle_keep_nan(x, heddle_exp_sum(-0.5f * high * high, -0.5f * (size - high) * (size + high)));
}

// The normal distribution's cumulative function, erfc(-x / sqrt 2) / 2, given exp(-x²/2). On both sides it comes from
// the small tail exp(-x²/2) s Q(s) with s = 2 / (2 + |x| / sqrt 2), which keeps its digits far out.
static inline float heddle_normal_cdf(float x, float exp_minus_half_square)
{
    const float beyond = 1e4f; // the tail is 0 long before; keeps infinity out of the division
    const float root_half = 0.707106781f;
    float s = 2.0f / (2.0f + heddle_clamp_size(fabsf(x), beyond) * root_half);
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
