// Vector loads and stores of every width, aligned and inside.
#include "../corpus.h"

__global__ void scale(float *data, int n)
{
    int t = threadIdx.x;
    float4 four = reinterpret_cast<float4 *>(data)[t];
    four.x *= 2, four.y *= 2, four.z *= 2, four.w *= 2;
    reinterpret_cast<float4 *>(data)[t] = four;
    __syncthreads();
    if (t < n / 2) {
        float2 two = reinterpret_cast<float2 *>(data)[t];
        reinterpret_cast<float2 *>(data)[t] = make_float2(two.y, two.x);
    }
}

int main()
{
    float *data = device_ramp(128, 0.0f, 1.0f), result[128];
    scale<<<1, 32>>>(data, 128);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 128; i++)
        REQUIRE(result[i] == 2 * (i < 64 ? i ^ 1 : i));
    CHECK(cudaFree(data));
    return 0;
}
