// __launch_bounds__, __restrict__, __forceinline__, __noinline__, __ldg, #pragma unroll, const and volatile.
#include "../corpus.h"

__device__ __forceinline__ float square(float x)
{
    return x * x;
}

__device__ __noinline__ float half_of(float x)
{
    return x / 2;
}

__global__ void __launch_bounds__(128, 2) work(float *__restrict__ output, const float *__restrict__ input)
{
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < 4; i++)
        sum += square(__ldg(input + threadIdx.x + i));
    output[threadIdx.x] = half_of(sum);
}

int main()
{
    float *input = device_ramp(132, 1.0f, 0.0f), *output = device_zeros<float>(128), result[128];
    work<<<1, 128>>>(output, input);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 2 && result[127] == 2);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
