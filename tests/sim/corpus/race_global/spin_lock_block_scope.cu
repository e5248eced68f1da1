// A lock between blocks taken with the block-scope CAS: two blocks may hold it at once.
#include "../corpus.h"

__global__ void add(int *lock, int *balance, int amount)
{
    if (threadIdx.x != 0)
        return;
    while (atomicCAS_block(lock, 0, 1) != 0) // expect: race a+
        ;
    __threadfence();
    *balance += amount; // expect: race b
    __threadfence();
    atomicExch_block(lock, 0); // expect: race a+
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
