// Within a block, too: the warp that sees the flag needs a fence of block scope before it reads.
#include "../corpus.h"

// cure: Put __threadfence_block() after the atomic that takes the lock
__global__ void pass_on(int *output)
{
    __shared__ int data, flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = 42;
        __threadfence_block();
        atomicExch_block(&flag, 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd_block(&flag, 0) == 0) // expect: race(warning) a
            ;
        *output = data; // expect: race(warning) a
    }
}

int main()
{
    int *output = device_zeros<int>(1), result[1];
    pass_on<<<1, 64>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 42);
    CHECK(cudaFree(output));
    return 0;
}
