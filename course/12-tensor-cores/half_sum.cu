// Adds 1 to 0, 4096 times: in half, in bfloat16 and in float. Only one gets 4096.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../05-first-kernels/cuda_check.h"

enum { COUNT = 4096 };

__global__ void add_up(float *sums)
{
    half in_half = __float2half(0);
    __nv_bfloat16 in_bfloat16 = __float2bfloat16(0);
    float in_float = 0;
    for (int i = 0; i < COUNT; i++) {
        in_half = __hadd(in_half, __float2half(1));
        in_bfloat16 = __hadd(in_bfloat16, __float2bfloat16(1));
        in_float += 1;
    }
    sums[0] = __half2float(in_half);
    sums[1] = __bfloat162float(in_bfloat16);
    sums[2] = in_float;
}

int main(void)
{
    float *device, sums[3];
    CUDA_CHECK(cudaMalloc(&device, sizeof sums));
    add_up<<<1, 1>>>(device);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(sums, device, sizeof sums, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
    printf("half %.0f, bfloat16 %.0f, float %.0f\n", sums[0], sums[1], sums[2]);
    return 0;
}
