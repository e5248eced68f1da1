// memcpy and memset in a kernel, of sizes known and unknown: all that they write counts as written, and no more.
#include "../corpus.h"
#include <string.h>

__global__ void by_lane(char *to, const char *from, const int *bytes, int *output)
{
    int i = threadIdx.x;
    memcpy(to + 32 * i, from + 32 * i, bytes[i]);
    __syncwarp();
    output[i] = to[32 * i + bytes[i] - 1];
}

__global__ void of_constant_size(char *to, const char *from, int *output)
{
    int i = threadIdx.x;
    memcpy(to + 32 * i, from + 32 * i, 24);
    memset(to + 32 * i + 24, 7, 7);
    output[i] = to[32 * i + 23] + to[32 * i + 30];
    output[i] += to[32 * i + 31]; // expect: uninitialised
}

int main()
{
    char *from = device_zeros<char>(1024), *one, *other;
    int *bytes = device_ramp<int>(32, 1, 1), *output = device_zeros<int>(32);
    CHECK(cudaMalloc(&one, 1024));
    CHECK(cudaMalloc(&other, 1024));
    by_lane<<<1, 32>>>(one, from, bytes, output);
    of_constant_size<<<1, 32>>>(other, from, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(from));
    CHECK(cudaFree(one));
    CHECK(cudaFree(other));
    CHECK(cudaFree(bytes));
    CHECK(cudaFree(output));
    return 0;
}
