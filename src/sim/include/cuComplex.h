// CUDA's cuComplex.h: complex numbers as float2 and double2, for host and device code. Plain C as well.
#pragma once
#define CU_COMPLEX_H_

#include <math.h>

#include "sim/vector_types.h"

#ifdef __cplusplus
#define SIM_COMPLEX SIM_INLINE
#else
#define SIM_COMPLEX static SIM_INLINE __attribute__((unused))
#endif

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// Division and absolute value scale first, so that large numbers do not overflow on the way.
#define SIM_COMPLEX_TYPE(T, S, vector, make, real, imag, conjugate, add, subtract, multiply, divide, absolute, f)      \
    SIM_COMPLEX S real(T x)                                                                                            \
    {                                                                                                                  \
        return x.x;                                                                                                    \
    }                                                                                                                  \
    SIM_COMPLEX S imag(T x)                                                                                            \
    {                                                                                                                  \
        return x.y;                                                                                                    \
    }                                                                                                                  \
    SIM_COMPLEX T make(S r, S i)                                                                                       \
    {                                                                                                                  \
        return make_##vector(r, i);                                                                                    \
    }                                                                                                                  \
    SIM_COMPLEX T conjugate(T x)                                                                                       \
    {                                                                                                                  \
        return make_##vector(x.x, -x.y);                                                                               \
    }                                                                                                                  \
    SIM_COMPLEX T add(T x, T y)                                                                                        \
    {                                                                                                                  \
        return make_##vector(x.x + y.x, x.y + y.y);                                                                    \
    }                                                                                                                  \
    SIM_COMPLEX T subtract(T x, T y)                                                                                   \
    {                                                                                                                  \
        return make_##vector(x.x - y.x, x.y - y.y);                                                                    \
    }                                                                                                                  \
    SIM_COMPLEX T multiply(T x, T y)                                                                                   \
    {                                                                                                                  \
        return make_##vector(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);                                            \
    }                                                                                                                  \
    SIM_COMPLEX T divide(T x, T y)                                                                                     \
    {                                                                                                                  \
        S scale = 1 / (fabs##f(y.x) + fabs##f(y.y));                                                                   \
        S xr = x.x * scale, xi = x.y * scale, yr = y.x * scale, yi = y.y * scale;                                      \
        S norm = 1 / (yr * yr + yi * yi);                                                                              \
        return make_##vector((xr * yr + xi * yi) * norm, (xi * yr - xr * yi) * norm);                                  \
    }                                                                                                                  \
    SIM_COMPLEX S absolute(T x)                                                                                        \
    {                                                                                                                  \
        return hypot##f(x.x, x.y);                                                                                     \
    }

SIM_COMPLEX_TYPE(cuFloatComplex, float, float2, make_cuFloatComplex, cuCrealf, cuCimagf, cuConjf, cuCaddf, cuCsubf,
                 cuCmulf, cuCdivf, cuCabsf, f)
SIM_COMPLEX_TYPE(cuDoubleComplex, double, double2, make_cuDoubleComplex, cuCreal, cuCimag, cuConj, cuCadd, cuCsub,
                 cuCmul, cuCdiv, cuCabs, )
#undef SIM_COMPLEX_TYPE

SIM_COMPLEX cuComplex make_cuComplex(float r, float i)
{
    return make_float2(r, i);
}
SIM_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x)
{
    return make_double2((double)x.x, (double)x.y);
}
SIM_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x)
{
    return make_float2((float)x.x, (float)x.y);
}
SIM_COMPLEX cuComplex cuCfmaf(cuComplex x, cuComplex y, cuComplex z)
{
    return cuCaddf(cuCmulf(x, y), z);
}
SIM_COMPLEX cuDoubleComplex cuCfma(cuDoubleComplex x, cuDoubleComplex y, cuDoubleComplex z)
{
    return cuCadd(cuCmul(x, y), z);
}
