// clock64, clock, __nanosleep and %globaltimer's kin.
#include "../corpus.h"

__global__ void measure(long long *output)
{
    long long start = clock64();
    unsigned sum = 0;
    for (int i = 0; i < 10; i++) {
        __nanosleep(20);
        sum += (unsigned)clock();
    }
    long long stop = clock64();
    output[threadIdx.x] = stop > start ? 1 + (sum == 0) * 0 : 0;
}

// A second, as samples wait that show how kernels overlap.
__global__ void wait(long long cycles, long long *output)
{
    const long long start = clock64();
    long long now = start;
    while (now - start < cycles)
        now = clock64();
    output[threadIdx.x] = now - start;
}

int main()
{
    long long *output = device_zeros<long long>(32), result[32];
    measure<<<1, 32>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == 1);
    wait<<<1, 32>>>(1700000000, output);
    fetch(result, output);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] >= 1700000000);
    CHECK(cudaFree(output));
    return 0;
}
