// The warp reduction of old textbooks: volatile, but no __syncwarp. Since Volta lanes need not run in step.
#include "../corpus.h"

__device__ void warp_sum(volatile int *part, int t)
{
    part[t] += part[t + 32]; // expect: race a+
    part[t] += part[t + 16]; // expect: race a+
    part[t] += part[t + 8];  // expect: race a+
    if (t == 0)
        part[64] = part[0];
}

__global__ void sum(const int *input, int *output)
{
    __shared__ int part[65];
    int t = threadIdx.x;
    part[t] = input[t];
    __syncthreads();
    if (t < 32)
        warp_sum(part, t);
    __syncthreads();
    if (t == 0)
        *output = part[64];
}

int main()
{
    int *input = device_ramp(64, 0, 1), *output = device_zeros<int>(1);
    sum<<<1, 64>>>(input, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
