// A float4 read overlaps a float that another thread writes.
#include "../corpus.h"

__global__ void mix(float *output)
{
    __shared__ __align__(16) float tile[64];
    int t = threadIdx.x;
    tile[t] = (float)t; // expect: race a
    if (t % 4 == 0) {
        float4 four = *reinterpret_cast<float4 *>(tile + t); // expect: race a
        output[t / 4] = four.x + four.y + four.z + four.w;
    }
}

int main()
{
    float *output = device_zeros<float>(16);
    mix<<<1, 64>>>(output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(output));
    return 0;
}
