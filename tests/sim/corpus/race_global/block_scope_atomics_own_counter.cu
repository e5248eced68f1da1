// Block-scope atomics on a counter that only this block uses.
#include "../corpus.h"

__global__ void count(int *counters)
{
    atomicAdd_block(&counters[blockIdx.x], (int)threadIdx.x);
}

int main()
{
    int *counters = device_zeros<int>(4), result[4];
    count<<<4, 32>>>(counters);
    CHECK(cudaGetLastError());
    fetch(result, counters);
    for (int i = 0; i < 4; i++)
        REQUIRE(result[i] == 31 * 32 / 2);
    CHECK(cudaFree(counters));
    return 0;
}
