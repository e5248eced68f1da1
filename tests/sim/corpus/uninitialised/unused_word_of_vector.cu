// A float4 whose last member was never written is loaded whole, and only the first three are used.
#include "../corpus.h"

__global__ void make(float *points)
{
    for (int k = 0; k < 3; k++)
        points[threadIdx.x * 4 + k] = (float)(threadIdx.x + k);
}

__global__ void length(const float4 *points, float *output)
{
    float4 p = points[threadIdx.x]; // allow: uninitialised(warning)
    output[threadIdx.x] = p.x + p.y + p.z;
}

int main()
{
    float *points = NULL, *output = device_zeros<float>(32), result[32];
    CHECK(cudaMalloc(&points, 32 * sizeof(float4)));
    make<<<1, 32>>>(points);
    length<<<1, 32>>>((const float4 *)points, output);
    SHOW(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == 3 * i + 3);
    SHOW(cudaFree(points));
    CHECK(cudaFree(output));
    return 0;
}
