// A structure that is aligned to 4 bytes may lie at any multiple of 4, also where it is copied to one aligned to 8.
#include "../corpus.h"

struct pair {
    float low, high;
};

struct entry {
    pair range;
    double weight;
};

__global__ void widths(const pair *ranges, float *output)
{
    entry one;
    pair some[4];
    one.range = ranges[threadIdx.x];
    one.weight = 2;
    for (int i = 0; i < 4; i++)
        some[i] = ranges[threadIdx.x];
    output[threadIdx.x] = (float)one.weight * (one.range.high - one.range.low) + some[threadIdx.x % 4].low;
}

int main()
{
    float *ramp = device_ramp(65, 0.0f, 1.0f), *output = device_zeros<float>(32), result[32];
    widths<<<1, 32>>>(reinterpret_cast<const pair *>(ramp + 1), output);
    CHECK(cudaDeviceSynchronize());
    fetch(result, output);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == 2 + 1 + 2 * i);
    CHECK(cudaFree(ramp));
    CHECK(cudaFree(output));
    return 0;
}
