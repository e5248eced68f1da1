// The vector math functions: how many units in the last place they are off over their whole range, and what they do
// with infinities and NaN.

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heddle/random.h"
#include "ops/vector_math.h"

enum { RANDOM_POINTS = 200000 };

static float gelu(float x)
{
    return x * heddle_normal_cdf(x, heddle_exp_minus_half_square(x));
}

static float normal_cdf(float x)
{
    return heddle_normal_cdf(x, heddle_exp_minus_half_square(x));
}

static double sigmoid_reference(double x)
{
    return 1 / (1 + exp(-x));
}

static double softplus_reference(double x)
{
    return (x < 0 ? 0 : x) + log1p(exp(-fabs(x)));
}

static double normal_cdf_reference(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

static double gelu_reference(double x)
{
    return x * normal_cdf_reference(x);
}

static double exp_minus_half_square_reference(double x)
{
    return exp(-0.5 * x * x);
}

typedef struct math_case {
    const char *name;
    float (*function)(float);
    double (*reference)(double);
    float least, most;
    double allowed; // units in the last place
} math_case;

static const math_case cases[] = {
    {"exp", heddle_exp, exp, -87.0f, 88.7f, 1.5},
    {"expm1", heddle_expm1, expm1, -30.0f, 60.0f, 2.5},
    {"log1p_unit", heddle_log1p_unit, log1p, 0.0f, 1.0f, 2.5},
    {"tanh", heddle_tanh, tanh, -12.0f, 12.0f, 4},
    {"sigmoid", heddle_sigmoid, sigmoid_reference, -80.0f, 80.0f, 4},
    {"softplus", heddle_softplus, softplus_reference, -80.0f, 80.0f, 3},
    {"exp_minus_half_square", heddle_exp_minus_half_square, exp_minus_half_square_reference, -13.0f, 13.0f, 2.5},
    {"normal_cdf", normal_cdf, normal_cdf_reference, -13.0f, 13.0f, 8},
    {"gelu", gelu, gelu_reference, -13.0f, 13.0f, 8},
};

// Size of the last place of a float near `value`.
static double last_place(double value)
{
    int exponent;
    frexp(value, &exponent);
    return ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
}

static double error_at(const math_case *tried, float x)
{
    double expected = tried->reference(x);
    return fabs(tried->function(x) - expected) / last_place(expected);
}

static void the_error_stays_within_a_few_units(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const math_case *tried = &cases[c];
        heddle_random random = heddle_random_make(3, c);
        double worst = 0;
        float worst_at = 0;
        for (int i = 0; i < RANDOM_POINTS; i++) {
            // Half evenly over the range, half with small exponents: both ways functions go wrong.
            float u = heddle_random_uniform(&random), x = tried->least + (tried->most - tried->least) * u;
            if (i % 2)
                x = ldexpf(x, -(int)heddle_random_below(&random, 30));
            double error = error_at(tried, x);
            if (!(error <= worst)) {
                worst = error;
                worst_at = x;
            }
        }
        if (!(worst <= tried->allowed))
            fail_msg("%s(%.9g) is off by %.2f units in the last place, allowed %.2f", tried->name, worst_at, worst,
                     tried->allowed);
    }
}

static void exp_reaches_zero_and_infinity(void **state)
{
    (void)state;
    assert_true(heddle_exp(0.0f) == 1.0f);
    assert_true(heddle_exp(-0.0f) == 1.0f);
    assert_true(heddle_exp(89.0f) == INFINITY && heddle_exp(INFINITY) == INFINITY && heddle_exp(FLT_MAX) == INFINITY);
    assert_true(heddle_exp(-104.0f) == 0.0f && heddle_exp(-INFINITY) == 0.0f && heddle_exp(-FLT_MAX) == 0.0f);
    assert_true(heddle_exp(-100.0f) > 0.0f); // subnormal, but not lost
}

static void bounded_functions_reach_their_limits(void **state)
{
    (void)state;
    assert_true(heddle_tanh(INFINITY) == 1.0f && heddle_tanh(-INFINITY) == -1.0f && heddle_tanh(20.0f) == 1.0f);
    assert_true(heddle_tanh(0.0f) == 0.0f && signbit(heddle_tanh(-0.0f)));
    assert_true(heddle_sigmoid(INFINITY) == 1.0f && heddle_sigmoid(-INFINITY) == 0.0f && heddle_sigmoid(0.0f) == 0.5f);
    assert_true(heddle_softplus(INFINITY) == INFINITY && heddle_softplus(-INFINITY) == 0.0f);
    assert_true(heddle_softplus(1000.0f) == 1000.0f);
    assert_true(heddle_expm1(-INFINITY) == -1.0f && heddle_expm1(0.0f) == 0.0f);
    assert_true(normal_cdf(INFINITY) == 1.0f && normal_cdf(-INFINITY) == 0.0f && normal_cdf(0.0f) == 0.5f);
    assert_true(heddle_exp_minus_half_square(INFINITY) == 0.0f && heddle_exp_minus_half_square(-1e20f) == 0.0f);
}

static void nan_stays_nan(void **state)
{
    (void)state;
    const float nans[] = {NAN, -NAN, heddle_bits_float(0x7f800001u), heddle_bits_float(0xffc00fffu)};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t i = 0; i < sizeof nans / sizeof *nans; i++)
            if (!isnan(cases[c].function(nans[i])))
                fail_msg("%s of NaN %zu is %g", cases[c].name, i, cases[c].function(nans[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_error_stays_within_a_few_units),
        cmocka_unit_test(exp_reaches_zero_and_infinity),
        cmocka_unit_test(bounded_functions_reach_their_limits),
        cmocka_unit_test(nan_stays_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
