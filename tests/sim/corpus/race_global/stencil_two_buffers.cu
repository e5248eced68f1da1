// A stencil from one buffer into another, swapped between launches.
#include "../corpus.h"

__global__ void smooth(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = i > 0 && i < n - 1 ? (from[i - 1] + from[i] + from[i + 1]) / 3 : from[i];
}

int main()
{
    float *from = device_ramp(256, 0.0f, 3.0f), *to = device_zeros<float>(256), result[256];
    for (int step = 0; step < 4; step++) {
        smooth<<<2, 128>>>(from, to, 256);
        float *swap = from;
        from = to;
        to = swap;
    }
    CHECK(cudaGetLastError());
    fetch(result, from);
    for (int i = 0; i < 256; i++)
        REQUIRE(result[i] == 3.0f * i);
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    return 0;
}
