// A lock is taken and not given back on one path: the next taker spins for ever.
// memory: device
#include "../corpus.h"

__global__ void take(int *lock, int *balance)
{
    while (atomicCAS(lock, 0, 1) != 0) // expect: spin
        ;
    __threadfence();
    *balance += 1;
    if (blockIdx.x == 0)
        return;
    __threadfence();
    atomicExch(lock, 0);
}

int main()
{
    int *lock = device_zeros<int>(1), *balance = device_zeros<int>(1);
    take<<<2, 1>>>(lock, balance);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(lock));
    SHOW(cudaFree(balance));
    return 0;
}
