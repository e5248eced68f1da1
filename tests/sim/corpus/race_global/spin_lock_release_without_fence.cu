// A spin lock given back with atomicExch but no fence before: the next owner may miss the update.
// cure: __threadfence
#include "../corpus.h"

__global__ void add(int *lock, int *balance, int amount)
{
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    *balance += amount; // expect: race
    atomicExch(lock, 0);
}

int main()
{
    int *lock = device_zeros<int>(1), *balance = device_zeros<int>(1);
    add<<<16, 32>>>(lock, balance, 3);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(lock));
    CHECK(cudaFree(balance));
    return 0;
}
