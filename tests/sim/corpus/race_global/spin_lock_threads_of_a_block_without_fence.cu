// A lock that the threads of a block take in turn, given back without a fence: no barrier can stand in the loop.
// cure: __threadfence
#include "../corpus.h"

__global__ void add(int *lock, int *balance)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *balance += threadIdx.x; // expect: race
            atomicExch(lock, 0);
            done = true;
        }
    }
}

int main()
{
    int *lock = device_zeros<int>(1), *balance = device_zeros<int>(1);
    add<<<1, 64>>>(lock, balance);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(lock));
    CHECK(cudaFree(balance));
    return 0;
}
