// Arithmetic in a chosen rounding direction. Sums and products of floats are formed in double, rounded to odd there, so
// that the second rounding, to float or to something smaller, cannot go wrong. Doubles use the processor's own modes.
#pragma once

#include <fenv.h>
#include <math.h>
#include <stdint.h>

#include "sim/bits.h"

namespace sim
{

enum rounding { to_nearest, to_zero, upwards, downwards };

// A double that stands for value + error, |error| less than one unit in value's last place: rounded to odd, it differs
// from every number with fewer bits on the same side as the exact sum does.
SIM_INLINE double to_odd(double value, double error)
{
    uint64_t bits = bits_as<uint64_t>(value);
    if (error == 0.0 || !__builtin_isfinite(value) || (bits & 1) != 0)
        return value;
    return bits_as<double>((error > 0.0) == (value > 0.0) ? bits + 1 : bits - 1);
}

SIM_INLINE double sum_to_odd(double a, double b)
{
    double sum = a + b;
    if (!__builtin_isfinite(sum))
        return sum;
    double b_part = sum - a, a_part = sum - b_part;
    return to_odd(sum, (a - a_part) + (b - b_part));
}

// For a and b with at most 26 significant bits: their product is exact.
SIM_INLINE double fused_to_odd(double a, double b, double c)
{
    return sum_to_odd(a * b, c);
}
SIM_INLINE double quotient_to_odd(double a, double b)
{
    double quotient = a / b;
    if (!__builtin_isfinite(quotient) || b == 0.0 || quotient == 0.0 || !__builtin_isfinite(b))
        return quotient;
    double rest = __builtin_fma(-quotient, b, a);
    return to_odd(quotient, b > 0.0 ? rest : -rest);
}
SIM_INLINE double root_to_odd(double a)
{
    double root = ::sqrt(a);
    if (!(root > 0.0) || !__builtin_isfinite(root))
        return root;
    return to_odd(root, __builtin_fma(-root, root, a));
}

SIM_INLINE float float_from(double value, rounding direction)
{
    float nearest = (float)value;
    if (direction == to_nearest || (double)nearest == value || value != value)
        return nearest;
    bool above = (double)nearest > value;
    bool wants_above = direction == upwards || (direction == to_zero && value < 0.0);
    if (above == wants_above)
        return nearest;
    return above ? ::nextafterf(nearest, -__builtin_inff()) : ::nextafterf(nearest, __builtin_inff());
}

// A result of zero from operands that cancel is -0 when rounding downwards.
SIM_INLINE float float_sum(double a, double b, rounding direction)
{
    double sum = sum_to_odd(a, b);
    if (sum == 0.0 && direction == downwards && (a != 0.0 || __builtin_signbit(a) != __builtin_signbit(b)))
        return -0.0f;
    return float_from(sum, direction);
}

SIM_INLINE float float_product(double a, double b, rounding direction)
{
    return float_from(a * b, direction);
}
SIM_INLINE float float_quotient(double a, double b, rounding direction)
{
    return float_from(quotient_to_odd(a, b), direction);
}
SIM_INLINE float float_root(double a, rounding direction)
{
    return float_from(root_to_odd(a), direction);
}

SIM_INLINE int mode_of(rounding direction)
{
    return direction == to_zero     ? FE_TOWARDZERO
           : direction == upwards   ? FE_UPWARD
           : direction == downwards ? FE_DOWNWARD
                                    : FE_TONEAREST;
}

// Sets the processor's rounding for as long as it lives. The compiler must not move arithmetic past it: operands go
// through `held`, results too.
struct rounded {
    int before;
    SIM_INLINE explicit rounded(rounding direction) : before(fegetround())
    {
        fesetround(mode_of(direction));
    }
    SIM_INLINE ~rounded()
    {
        fesetround(before);
    }
};
SIM_INLINE double held(double value)
{
    asm volatile("" : SIM_IN_FLOAT_REGISTER(value) : : "memory");
    return value;
}

inline double double_sum(double a, double b, rounding direction)
{
    rounded mode(direction);
    return held(held(a) + held(b));
}
inline double double_product(double a, double b, rounding direction)
{
    rounded mode(direction);
    return held(held(a) * held(b));
}
inline double double_quotient(double a, double b, rounding direction)
{
    rounded mode(direction);
    return held(held(a) / held(b));
}
inline double double_fused(double a, double b, double c, rounding direction)
{
    rounded mode(direction);
    return held(__builtin_fma(held(a), held(b), held(c)));
}
inline double double_root(double a, rounding direction)
{
    rounded mode(direction);
    return held(__builtin_sqrt(held(a)));
}

} // namespace sim
