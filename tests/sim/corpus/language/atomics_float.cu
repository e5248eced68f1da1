// Floating-point atomics: float, double, half2, bfloat16x2, exchange of floats.
#include "../corpus.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void work(float *f, double *d, __half2 *h, __nv_bfloat162 *b)
{
    atomicAdd(&f[0], 0.5f);
    atomicAdd(d, 0.25);
    atomicAdd(h, __floats2half2_rn(1.0f, 2.0f));
    atomicAdd(b, __floats2bfloat162_rn(1.0f, 2.0f));
    atomicExch(&f[1], 4.0f);
}

int main()
{
    float *f = device_zeros<float>(2), x[2];
    double *d = device_zeros<double>(1), y[1];
    __half2 *h = device_zeros<__half2>(1), z[1];
    __nv_bfloat162 *b = device_zeros<__nv_bfloat162>(1), w[1];
    work<<<2, 32>>>(f, d, h, b);
    CHECK(cudaGetLastError());
    fetch(x, f);
    fetch(y, d);
    fetch(z, h);
    fetch(w, b);
    REQUIRE(x[0] == 32 && x[1] == 4 && y[0] == 16);
    REQUIRE(__low2float(z[0]) == 64 && __high2float(z[0]) == 128);
    REQUIRE(__bfloat162float(w[0].x) == 64 && __bfloat162float(w[0].y) == 128);
    CHECK(cudaFree(f));
    CHECK(cudaFree(d));
    CHECK(cudaFree(h));
    CHECK(cudaFree(b));
    return 0;
}
