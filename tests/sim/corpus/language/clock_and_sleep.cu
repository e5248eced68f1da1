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

int main()
{
    long long *output = device_zeros<long long>(32), result[32];
    measure<<<1, 32>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == 1);
    CHECK(cudaFree(output));
    return 0;
}
