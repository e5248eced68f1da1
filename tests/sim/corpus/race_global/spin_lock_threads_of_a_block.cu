// A lock that every thread of a block takes in turn, in the form that cannot hang a warp.
#include "../corpus.h"

__global__ void add(int *lock, int *balance)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *balance += threadIdx.x;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

int main()
{
    int *lock = device_zeros<int>(1), *balance = device_zeros<int>(1), result[1];
    add<<<2, 64>>>(lock, balance);
    CHECK(cudaGetLastError());
    fetch(result, balance);
    REQUIRE(result[0] == 2 * 63 * 64 / 2);
    CHECK(cudaFree(lock));
    CHECK(cudaFree(balance));
    return 0;
}
