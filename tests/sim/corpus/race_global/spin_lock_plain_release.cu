// A spin lock given back with a plain store: the store races with the others' CAS.
#include "../corpus.h"

__global__ void add(int *lock, int *balance, int amount)
{
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(lock, 0, 1) != 0) // expect: race a+
        ;
    __threadfence();
    *balance += amount; // allow: race b
    __threadfence();
    *lock = 0; // expect: race a+; allow: race(warning)
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
