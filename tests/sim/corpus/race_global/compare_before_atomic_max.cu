// A plain comparison spares most of the atomics; atomicMax, atomicOr and a swap whose result is looked at decide by
// what they find themselves, so that an old value only costs one more of them.
#include "../corpus.h"

__global__ void collect(const int *input, int *best, unsigned *seen, int *first, int *winners)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (input[i] > *best)                         // expect: race(warning) a
        atomicMax(best, input[i]);                // expect: race(warning) a
    if (!(*seen >> i % 8 & 1))                    // expect: race(warning) b
        atomicOr(seen, 1u << i % 8);              // expect: race(warning) b
    if (*first == 0 && atomicExch(first, 1) == 0) // expect: race(warning)
        atomicAdd(winners, 1);
}

int main()
{
    int *input = device_ramp(128, 1, 1), *best = device_zeros<int>(1), result[1];
    unsigned *seen = device_zeros<unsigned>(1), bits[1];
    int *first = device_zeros<int>(1), *winners = device_zeros<int>(1);
    collect<<<4, 32>>>(input, best, seen, first, winners);
    SHOW(cudaGetLastError());
    fetch(result, best);
    REQUIRE(result[0] == 128);
    fetch(bits, seen);
    REQUIRE(bits[0] == 255);
    fetch(result, winners);
    REQUIRE(result[0] == 1);
    CHECK(cudaFree(input));
    CHECK(cudaFree(best));
    CHECK(cudaFree(seen));
    CHECK(cudaFree(first));
    CHECK(cudaFree(winners));
    return 0;
}
