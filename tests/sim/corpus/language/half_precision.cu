// half, half2 and bfloat16: conversions with CUDA's rounding, arithmetic, comparison.
#include "../corpus.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void work(float *output)
{
    __half a = __float2half(1.5f), b = __float2half_rn(2.25f);
    __half2 pair = __halves2half2(a, b), twice = __hadd2(pair, pair);
    __nv_bfloat16 c = __float2bfloat16(3.140625f);
    output[0] = __half2float(__hmul(a, b));
    output[1] = __low2float(twice) + __high2float(twice);
    output[2] = __half2float(__hfma(a, b, a));
    output[3] = __bfloat162float(c);
    output[4] = __half2float(__float2half(2049.0f));
    output[5] = __bfloat162float(__float2bfloat16(257.0f));
    output[6] = __hgt(b, a) ? 1 : 0;
    output[7] = __half2float(a + b - __half(0.25f));
}

int main()
{
    float *output = device_zeros<float>(8), r[8];
    work<<<1, 1>>>(output);
    CHECK(cudaGetLastError());
    fetch(r, output);
    REQUIRE(r[0] == 3.375f && r[1] == 7.5f && r[2] == 4.875f && r[3] == 3.140625f);
    REQUIRE(r[4] == 2048 && r[5] == 256 && r[6] == 1 && r[7] == 3.5f);
    CHECK(cudaFree(output));
    return 0;
}
