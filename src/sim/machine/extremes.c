// fmin and fmax as the chips have them, in the place of the C library's: -0 is less than 0, and of two zeros C may give
// either. aarch64's instructions do the same.
#include <math.h>

#if !defined(__aarch64__)

double fmin(double a, double b)
{
    return a < b || b != b || (a == b && signbit(a)) ? a : b;
}

double fmax(double a, double b)
{
    return a > b || b != b || (a == b && !signbit(a)) ? a : b;
}

float fminf(float a, float b)
{
    return a < b || b != b || (a == b && signbit(a)) ? a : b;
}

float fmaxf(float a, float b)
{
    return a > b || b != b || (a == b && !signbit(a)) ? a : b;
}

#endif
