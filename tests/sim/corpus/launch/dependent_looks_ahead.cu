// Before it waits, a kernel guesses by a volatile read what the one before it will leave, and looks again afterwards.
#include "dependent.h"

__global__ void count(int *counter, const int *table, int *next)
{
    int guess = *(volatile int *)counter + 1;
    int value = table[guess % THREADS];
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    int now = *counter + 1;
    if (now != guess)
        value = table[now % THREADS];
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        *counter = now;
        *next = value;
    }
}

int main()
{
    int *counter = device_zeros<int>(1), *table = device_ramp<int>(THREADS, 0, 3), *next = device_zeros<int>(1),
        host[1];
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(THREADS);
    config.attrs = &attribute;
    config.numAttrs = 1;
    for (int i = 0; i < 3; i++)
        CHECK(cudaLaunchKernelEx(&config, count, counter, (const int *)table, next));
    fetch(host, next);
    REQUIRE(host[0] == 9);
    CHECK(cudaFree(counter));
    CHECK(cudaFree(table));
    CHECK(cudaFree(next));
    return 0;
}
