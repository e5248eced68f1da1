// Two locks guard the same balance: each block takes the lock of its parity.
#include "../corpus.h"

__global__ void add(int *locks, int *balance)
{
    int *lock = locks + blockIdx.x % 2;
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *balance += 1; // expect: race
    __threadfence();
    atomicExch(lock, 0);
}

int main()
{
    int *locks = device_zeros<int>(2), *balance = device_zeros<int>(1);
    add<<<8, 1>>>(locks, balance);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(locks));
    CHECK(cudaFree(balance));
    return 0;
}
