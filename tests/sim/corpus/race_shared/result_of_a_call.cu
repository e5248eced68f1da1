// A structure that a function returns is stored by the thread that called it, and read by another without a barrier.
#include "../corpus.h"

__device__ __noinline__ float2 pair_of(int i)
{
    return make_float2((float)i, (float)-i);
}

__global__ void turn(float *output)
{
    __shared__ float2 pairs[64];
    pairs[threadIdx.x] = pair_of(threadIdx.x);       // expect: race a
    output[threadIdx.x] = pairs[63 - threadIdx.x].x; // expect: race a
}

int main()
{
    float *output = device_zeros<float>(64);
    turn<<<1, 64>>>(output);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(output));
    return 0;
}
