// Volatile writes of words that others use by atomics, all right: the lock is given up by whoever holds it, the word of
// a ticket lock is set by its holder while others look at it by an atomic that adds nothing, and a count is
// reset by the one that has waited for all of it.
#include "../corpus.h"

__device__ int lock, tickets, serving, arrived, released;

__global__ void by_turns(int *sum)
{
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(&lock, 0, 1) != 0)
        ;
    __threadfence();
    sum[0] += 1;
    __threadfence();
    *(volatile int *)&lock = 0;

    int ticket = atomicAdd(&tickets, 1);
    while (atomicAdd(&serving, 0) != ticket)
        ;
    __threadfence();
    sum[1] += 1;
    __threadfence();
    *(volatile int *)&serving = ticket + 1;
}

__global__ void master_resets(int *sum)
{
    if (threadIdx.x != 0)
        return;
    __threadfence();
    atomicAdd(&arrived, 1);
    if (blockIdx.x == 0) {
        while (*(volatile int *)&arrived != (int)gridDim.x)
            ;
        *(volatile int *)&arrived = 0;
        __threadfence();
        atomicExch(&released, 1);
    }
    while (atomicAdd(&released, 0) == 0)
        ;
    __threadfence();
    atomicAdd(sum, 1);
}

int main()
{
    int *sum = device_zeros<int>(2), result[2];
    by_turns<<<4, 32>>>(sum);
    CHECK(cudaGetLastError());
    fetch(result, sum);
    REQUIRE(result[0] == 4 && result[1] == 4);
    master_resets<<<4, 32>>>(sum);
    CHECK(cudaGetLastError());
    fetch(result, sum);
    REQUIRE(result[0] == 8);
    CHECK(cudaFree(sum));
    return 0;
}
