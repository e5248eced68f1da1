// Atomics are counted apart from loads and stores.
#include "../corpus/corpus.h"

__global__ void add(int *counters)
{
    int t = threadIdx.x;
    atomicAdd(&counters[0], 1);     // count: atomic global requests=1 lanes=32 units=1
    atomicAdd(&counters[t], 1);     // count: atomic global requests=1 lanes=32 units=4
    atomicAdd(&counters[t * 8], 1); // count: atomic global requests=1 lanes=32 units=32
}

int main()
{
    int *counters = device_zeros<int>(256);
    add<<<1, 32>>>(counters);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(counters));
    return 0;
}
