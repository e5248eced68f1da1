// A lock that is taken without a fence behind it: a critical section that only writes is not ordered behind the last
// one, either.
#include "../corpus.h"

__device__ int lock;

// cure: __threadfence
__global__ void last_one(int *winner)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) // expect: race(warning) a
            ;
        *winner = blockIdx.x; // expect: race(warning) a
        __threadfence();
        atomicExch(&lock, 0);
    }
}

int main()
{
    int *winner = device_zeros<int>(1), result[1];
    last_one<<<4, 32>>>(winner);
    SHOW(cudaGetLastError());
    fetch(result, winner);
    CHECK(cudaFree(winner));
    return 0;
}
