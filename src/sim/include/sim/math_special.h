// CUDA's special functions that the C library has not: inverse error functions, the normal distribution, erfcx,
// modified Bessel functions. Computed in double by series and Newton steps: a few units in the last place.
#pragma once

#include <math.h>

#include "sim/math.h"

namespace sim
{

const double root_of_pi = 1.77245385090551602730;
const double root_of_half = 0.70710678118654752440, rest_of_root_of_half = -4.83364665672645672e-17;

// exp(x^2) erfc(x). The square is kept in two parts, because exp would magnify the rounding of one.
inline double scaled_erfc(double x)
{
    const double series_from = 10.0;
    if (x < series_from) {
        double square = x * x, rest = __builtin_fma(x, x, -square);
        return ::exp(square) * (1.0 + rest) * ::erfc(x);
    }
    double inverse = 1.0 / (2.0 * x * x), term = 1.0, sum = 1.0;
    const int terms = 18;
    for (int n = 1; n <= terms; n++) {
        term *= -(2 * n - 1) * inverse;
        sum += term;
    }
    return sum / (x * root_of_pi);
}

// A first approximation by S. Winitzki's formula, with w = log(1 - erf(y)^2).
inline double inverse_erf_guess(double w)
{
    const double a = 0.147;
    double t = 2.0 / (pi * a) + 0.5 * w;
    return ::sqrt(::sqrt(t * t - w / a) - t);
}

// y > 0 with erfc(y) = q, for q below 1/2: Newton's method on the logarithms, which stays exact far out.
inline double inverse_erfc_tail(double q)
{
    double logarithm = ::log(q), y = inverse_erf_guess(logarithm + ::log(2.0 - q));
    const int steps = 4;
    for (int step = 0; step < steps; step++) {
        double scaled = scaled_erfc(y), error = ::log(scaled) - y * y - logarithm;
        y += error * 0.5 * root_of_pi * scaled;
    }
    return y;
}

inline double inverse_erf(double x)
{
    double size = __builtin_fabs(x);
    if (!(size < 1.0))
        return size == 1.0 ? __builtin_copysign(__builtin_inf(), x) : __builtin_nan("");
    if (size == 0.0)
        return x;
    if (size > 0.5)
        return __builtin_copysign(inverse_erfc_tail(1.0 - size), x);
    double y = inverse_erf_guess(::log1p(-size * size));
    if (y == 0.0 || size < 1e-8) // the guess has no digits left
        y = 0.5 * root_of_pi * size;
    const int steps = 3;
    for (int step = 0; step < steps; step++) {
        double newton = (::erf(y) - size) * 0.5 * root_of_pi * ::exp(y * y);
        y -= newton / (1.0 + y * newton);
    }
    return __builtin_copysign(y, x);
}

inline double inverse_erfc(double q)
{
    if (!(q > 0.0 && q < 2.0))
        return q == 0.0 ? __builtin_inf() : q == 2.0 ? -__builtin_inf() : __builtin_nan("");
    if (q < 0.5)
        return inverse_erfc_tail(q);
    return inverse_erf(1.0 - q);
}

// erfc(-x / sqrt 2) / 2, with the part of the division that rounding drops.
inline double normal_distribution(double x)
{
    double y = -x * root_of_half, value = 0.5 * ::erfc(y);
    if (!__builtin_isfinite(x) || value == 0.0)
        return value;
    double rest = __builtin_fma(-x, root_of_half, -y) - x * rest_of_root_of_half;
    return value - ::exp(-y * y) / root_of_pi * rest;
}

// I0 (order 0) and I1 (order 1): all terms of the series are positive, so that it loses nothing.
inline double modified_bessel(int order, double x)
{
    double size = __builtin_fabs(x), sign = order == 1 && x < 0.0 ? -1.0 : 1.0;
    const double asymptotic_from = 30.0, small_enough = 1e-18;
    if (size != size || __builtin_isinf(size))
        return sign * size;
    double term = 1.0, sum = 1.0;
    if (size < asymptotic_from) {
        double quarter = 0.25 * x * x;
        for (int k = 1; term > small_enough * sum; k++) {
            term *= quarter / ((double)k * (k + order));
            sum += term;
        }
        return order == 1 ? 0.5 * x * sum : sum;
    }
    for (int k = 1; __builtin_fabs(term) > small_enough && k < 40; k++) {
        double odd = 2.0 * k - 1.0;
        term *= (odd * odd - 4.0 * order * order) / (8.0 * size * k);
        sum += term;
    }
    double half = ::exp(0.5 * size); // in two parts: exp itself would overflow first
    return sign * half * (sum / ::sqrt(2.0 * pi * size)) * half;
}

} // namespace sim

SIM_FUNCTION_1(erfinv, sim::inverse_erf(x))
SIM_FUNCTION_1(erfcinv, sim::inverse_erfc(x))
SIM_FUNCTION_1(erfcx, sim::scaled_erfc(x))
SIM_FUNCTION_1(normcdf, sim::normal_distribution(x))
SIM_FUNCTION_1(normcdfinv, -sim::inverse_erfc(2.0 * x) * 1.41421356237309504880)
SIM_FUNCTION_1(cyl_bessel_i0, sim::modified_bessel(0, x))
SIM_FUNCTION_1(cyl_bessel_i1, sim::modified_bessel(1, x))
