// CUDA's functions that the C library lacks, and the fast intrinsics, to a few units in the last place of a known
// value.
#include <math_constants.h>

#include "check.h"

__device__ bool close(double value, double expected, double tolerance)
{
    if (value == expected)
        return true;
    return fabs(value - expected) <= tolerance * fmax(fabs(expected), 1e-300);
}
#define CLOSE(value, expected)       CHECK(close(value, expected, 1e-14))
#define CLOSE_FLOAT(value, expected) CHECK(close(value, expected, 1e-6))
#define ROUGHLY(value, expected)     CHECK(close(value, expected, 1e-4))

__global__ void special()
{
    CLOSE(erfinv(0.5), 0.47693627620446987);
    CLOSE(erfinv(-0.999), -2.3267537655135247);
    CLOSE(erfcinv(1e-10), 4.572824967389486);
    CLOSE(erfcinv(1.5), -0.47693627620446987);
    CLOSE(normcdf(-1.0), 0.15865525393145705);
    CLOSE(normcdf(-10.0), 7.61985302416052606e-24);
    CLOSE(normcdfinv(0.975), 1.9599639845400543);
    CLOSE(erfcx(3.0), 0.17900115118138998);
    CLOSE(erfcx(30.0), 0.018795888861416751);
    CLOSE(cyl_bessel_i0(2.0), 2.2795853023360673);
    CLOSE(cyl_bessel_i1(2.0), 1.5906368546373291);
    CLOSE(rsqrt(2.0), 0.70710678118654752);
    CLOSE(rcbrt(8.0), 0.5);
    CLOSE(exp10(3.0), 1000.0);
    CHECK(sinpi(1.0) == 0.0 && cospi(0.5) == 0.0 && cospi(1.0) == -1.0 && sinpi(0.5) == 1.0);
    CLOSE(sinpi(1.0 / 3.0), 0.86602540378443865);
    CLOSE(hypot(3.0, 4.0), 5.0);
    CLOSE(rhypot(3.0, 4.0), 0.2);
    CLOSE(norm3d(2.0, 3.0, 6.0), 7.0);
    CLOSE(rnorm3d(2.0, 3.0, 6.0), 1.0 / 7.0);
    CLOSE(norm4d(1.0, 1.0, 1.0, 1.0), 2.0);
    const double elements[] = {3.0, 4.0, 12.0};
    CLOSE(norm(3, elements), 13.0);
    CLOSE(fdivide(1.0, 4.0), 0.25);
    CLOSE(j0(1.0), 0.76519768655796655);
    CLOSE(tgamma(5.0), 24.0);
    CLOSE(lgamma(5.0), log(24.0));
    double sine, cosine;
    sincos(1.0, &sine, &cosine);
    CLOSE(sine, sin(1.0));
    sincospi(0.25, &sine, &cosine);
    CLOSE(cosine, 0.70710678118654752);
    CHECK(isinf(erfinv(1.0)) && isnan(erfinv(2.0)) && isnan(erfcinv(-1.0)));
}

__global__ void special_floats()
{
    CLOSE_FLOAT(erfinvf(0.5f), 0.47693627620446987);
    CLOSE_FLOAT(normcdff(1.0f), 0.84134474606854293);
    CLOSE_FLOAT(rsqrtf(2.0f), 0.70710678118654752);
    CLOSE_FLOAT(exp10f(2.0f), 100.0);
    CLOSE_FLOAT(sinpif(0.25f), 0.70710678118654752);
    CLOSE_FLOAT(cospi(0.25f), 0.70710678118654752);
    CLOSE_FLOAT(norm3df(2.0f, 3.0f, 6.0f), 7.0);
    CLOSE_FLOAT(rnorm4df(1.0f, 1.0f, 1.0f, 1.0f), 0.5);
    CLOSE_FLOAT(hypotf(3.0f, 4.0f), 5.0);
    CLOSE_FLOAT(fdividef(1.0f, 8.0f), 0.125);
    CLOSE_FLOAT(CUDART_PI_F, 3.14159265358979);
    CHECK(isinf(CUDART_INF_F) && isnan(CUDART_NAN_F) && CUDART_ONE == 1.0);
    float sine, cosine;
    sincosf(0.5f, &sine, &cosine);
    CLOSE_FLOAT(sine, 0.47942553860420300);
}

__global__ void fast()
{
    ROUGHLY(__expf(1.0f), 2.718281828459045);
    ROUGHLY(__exp10f(2.0f), 100.0);
    ROUGHLY(__logf(10.0f), 2.302585092994046);
    ROUGHLY(__log2f(8.0f), 3.0);
    ROUGHLY(__log10f(1000.0f), 3.0);
    ROUGHLY(__powf(2.0f, 10.0f), 1024.0);
    ROUGHLY(__sinf(0.5f), 0.47942553860420300);
    ROUGHLY(__cosf(0.5f), 0.87758256189037272);
    ROUGHLY(__tanf(0.5f), 0.54630248984379051);
    ROUGHLY(__fdividef(1.0f, 3.0f), 1.0 / 3.0);
    ROUGHLY(__frsqrt_rn(4.0f), 0.5);
    float sine, cosine;
    __sincosf(0.5f, &sine, &cosine);
    ROUGHLY(cosine, 0.87758256189037272);
    CHECK(__saturatef(1.5f) == 1.0f && __saturatef(-1.0f) == 0.0f && __saturatef(0.25f) == 0.25f);
}

int main()
{
    special<<<1, 1>>>();
    special_floats<<<1, 1>>>();
    fast<<<1, 1>>>();
    return check_result();
}
