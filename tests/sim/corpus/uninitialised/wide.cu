// Elements of 8 and 16 bytes that were never written, in global and in shared memory.
#include "../corpus.h"

__global__ void add_double(const double *data, double *output)
{
    __shared__ double tile[32];
    int t = threadIdx.x;
    output[t] = data[t];  // expect: uninitialised
    output[t] += tile[t]; // expect: uninitialised
}

__global__ void add_float4(const float4 *data, float *output)
{
    __shared__ float4 tile[32];
    int t = threadIdx.x;
    float4 a = data[t]; // expect: uninitialised
    float4 b = tile[t]; // expect: uninitialised
    output[t] = a.x + a.w + b.y + b.z;
}

int main()
{
    double *doubles = NULL, *sums = device_zeros<double>(32);
    float4 *vectors = NULL;
    CHECK(cudaMalloc(&doubles, 32 * sizeof(double)));
    CHECK(cudaMalloc(&vectors, 32 * sizeof(float4)));
    add_double<<<1, 32>>>(doubles, sums);
    add_float4<<<1, 32>>>(vectors, (float *)sums);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(doubles));
    SHOW(cudaFree(vectors));
    SHOW(cudaFree(sums));
    return 0;
}
