// axpy in half2, with a copy of the vectors through shared memory.
#include "../corpus.h"
#include <cuda_fp16.h>

__global__ void axpy(__half2 *y, const __half2 *x, float a)
{
    __shared__ __half2 tile[32];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads();
    y[t] = __hfma2(__float2half2_rn(a), tile[31 - t], y[t]);
}

int main()
{
    __half2 host[32], result[32];
    for (int i = 0; i < 32; i++)
        host[i] = __floats2half2_rn((float)i, (float)-i);
    __half2 *x = device_copy(host), *y = device_copy(host);
    axpy<<<1, 32>>>(y, x, 2.0f);
    CHECK(cudaGetLastError());
    fetch(result, y);
    for (int i = 0; i < 32; i++)
        REQUIRE(__low2float(result[i]) == i + 2 * (31 - i) && __high2float(result[i]) == -(i + 2 * (31 - i)));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return 0;
}
