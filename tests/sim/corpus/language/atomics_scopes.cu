// Atomics of block, device and system scope where each suffices, and the fences of every scope.
#include "../corpus.h"

__global__ void work(int *per_block, int *device, int *system)
{
    atomicAdd_block(&per_block[blockIdx.x], 1);
    atomicMax_block(&per_block[4 + blockIdx.x], (int)threadIdx.x);
    atomicAdd(device, 1);
    atomicAdd_system(system, 1);
    __threadfence_block();
    __threadfence();
    __threadfence_system();
}

int main()
{
    int *per_block = device_zeros<int>(8), *device = device_zeros<int>(1), *system = device_zeros<int>(1);
    int a[8], b[1], c[1];
    work<<<4, 32>>>(per_block, device, system);
    CHECK(cudaGetLastError());
    fetch(a, per_block);
    fetch(b, device);
    fetch(c, system);
    for (int i = 0; i < 4; i++)
        REQUIRE(a[i] == 32 && a[4 + i] == 31);
    REQUIRE(b[0] == 128 && c[0] == 128);
    CHECK(cudaFree(per_block));
    CHECK(cudaFree(device));
    CHECK(cudaFree(system));
    return 0;
}
