// Whoever gives the lock back fences, but whoever takes it does not: its read may find the balance of before.
#include "../corpus.h"

// cure: after the atomic that takes the lock
__global__ void add(int *lock, int *balance, int amount)
{
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(lock, 0, 1) != 0) // expect: race(warning) a
        ;
    *balance += amount; // expect: race(warning) a
    __threadfence();
    atomicExch(lock, 0);
}

int main()
{
    int *lock = device_zeros<int>(1), *balance = device_zeros<int>(1), result[1];
    add<<<16, 32>>>(lock, balance, 3);
    CHECK(cudaGetLastError());
    fetch(result, balance);
    REQUIRE(result[0] == 48);
    CHECK(cudaFree(lock));
    CHECK(cudaFree(balance));
    return 0;
}
