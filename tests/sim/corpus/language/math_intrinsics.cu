// Floating-point functions and intrinsics with their rounding modes, and bit casts.
#include "../corpus.h"
#include <math.h>

__global__ void work(double *r)
{
    float one = 1.0f, three = 3.0f;
    r[0] = __fdividef(one, three) - __fdiv_rn(one, three);
    r[1] = __fadd_ru(one, 1e-10f) > one && __fadd_rd(one, 1e-10f) == one;
    r[2] = __float_as_int(1.0f) == 0x3f800000 && __int_as_float(0x40000000) == 2.0f;
    r[3] = __double_as_longlong(1.0) == 0x3ff0000000000000ll && __hiloint2double(0x40000000, 0) == 2.0;
    r[4] = rsqrtf(4.0f) + sqrtf(9.0f) + cbrtf(27.0f);
    r[5] = __expf(0.0f) + __logf(1.0f) + __sinf(0.0f) + __cosf(0.0f) + __powf(2.0f, 3.0f);
    r[6] = fmaf(2.0f, 3.0f, 1.0f) + fminf(1, 2) + fmaxf(1, 2) + fabsf(-1.0f) + floorf(1.7f) + ceilf(1.2f);
    r[7] = __float2int_rn(2.5f) + __float2int_rz(2.9f) * 10 + __float2int_ru(2.1f) * 100 + __float2int_rd(-2.1f) * 1000;
    r[8] = isnan(nanf("")) && isinf(INFINITY) && isfinite(1.0f) && !isfinite(INFINITY);
    r[9] = __saturatef(1.5f) + __saturatef(-1.0f) + __saturatef(0.25f);
    r[10] = rhypot(3.0, 4.0) + hypot(3.0, 4.0) + norm3df(2.0f, 3.0f, 6.0f) + exp10(2.0) + exp2f(3.0f);
    r[11] = erff(0.0f) + normcdf(0.0) + sinpif(0.5f) + cospif(1.0f);
}

int main()
{
    double *output = device_zeros<double>(12), r[12];
    work<<<1, 1>>>(output);
    CHECK(cudaGetLastError());
    fetch(r, output);
    REQUIRE(fabs(r[0]) < 1e-6 && r[1] == 1 && r[2] == 1 && r[3] == 1 && fabs(r[4] - 6.5) < 1e-5);
    REQUIRE(fabs(r[5] - 10) < 1e-5 && r[6] == 7 + 1 + 2 + 1 + 1 + 2 && r[7] == 2 + 20 + 300 - 3000 && r[8] == 1);
    REQUIRE(r[9] == 1.25 && fabs(r[10] - (0.2 + 5 + 7 + 100 + 8)) < 1e-5 && fabs(r[11] - 0.5) < 1e-6);
    CHECK(cudaFree(output));
    return 0;
}
