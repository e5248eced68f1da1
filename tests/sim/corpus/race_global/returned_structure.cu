// A function too large to be inlined returns a float4 that goes straight to memory: the store counts, here as a race.
#include "../corpus.h"

__device__ float4 smooth(float4 v, volatile float *neighbours)
{
    neighbours[threadIdx.x] = v.x;
    __syncthreads();
    v.y += neighbours[threadIdx.x ^ 1];
    return v;
}

__device__ float4 change(float4 v, volatile float *neighbours)
{
    float4 now = smooth(v, neighbours);
    return make_float4(now.x - v.x, now.y - v.y, now.z - v.z, now.w - v.w);
}

__global__ void right(float4 *output, const float4 *input)
{
    __shared__ float neighbours[64];
    float4 v = input[threadIdx.x];
    output[threadIdx.x] = change(v, neighbours);
}

__global__ void wrong(float4 *output, const float4 *input)
{
    __shared__ float neighbours[64];
    float4 v = input[threadIdx.x];
    output[threadIdx.x / 2] = change(v, neighbours); // expect: race
}

int main()
{
    float4 host[64], *input, *output;
    for (int i = 0; i < 64; i++)
        host[i] = make_float4(i, 1, 2, 3);
    input = device_copy(host);
    CHECK(cudaMalloc(&output, sizeof host));
    wrong<<<1, 64>>>(output, input);
    right<<<1, 64>>>(output, input);
    right<<<1, 64>>>(input, output);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
