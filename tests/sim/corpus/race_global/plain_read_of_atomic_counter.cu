// Threads read plainly a counter that others still add to atomically.
#include "../corpus.h"

__global__ void progress(int *counter, int *seen)
{
    atomicAdd(counter, 1);       // expect: race a
    seen[blockIdx.x] = *counter; // expect: race a
}

int main()
{
    int *counter = device_zeros<int>(1), *seen = device_zeros<int>(4);
    progress<<<4, 1>>>(counter, seen);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(counter));
    CHECK(cudaFree(seen));
    return 0;
}
