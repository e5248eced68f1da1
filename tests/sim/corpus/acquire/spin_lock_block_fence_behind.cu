// The fence behind the lock is of block scope, and blocks take the lock from one another.
#include "../corpus.h"

// cure: that takes the lock or sees the flag, use
// note: block scope
__device__ void take(int *lock)
{
    while (atomicCAS(lock, 0, 1) != 0) // expect: race(warning) a
        ;
    __threadfence_block();
}

__device__ void give_back(int *lock)
{
    __threadfence();
    atomicExch(lock, 0);
}

__global__ void add(int *lock, int *balance, int amount)
{
    if (threadIdx.x != 0)
        return;
    take(lock);
    int before = *balance; // expect: race(warning) a
    *balance = before + amount;
    give_back(lock);
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
