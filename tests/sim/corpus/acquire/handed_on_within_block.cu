// One thread takes the message over with a device-wide fence; from it to its block's others a fence of block scope will
// do.
#include "../corpus.h"

__global__ void pass_on(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            *data = 42;
            __threadfence();
            atomicExch(flag, 1);
        }
    } else {
        if (threadIdx.x == 0) {
            while (atomicAdd(flag, 0) == 0)
                ;
            __threadfence();
            atomicExch_block(flag + 1, 1);
        } else if (threadIdx.x == 32) {
            while (atomicAdd_block(flag + 1, 0) == 0)
                ;
            __threadfence_block();
            *output = *data;
        }
    }
}

int main()
{
    int *data = device_zeros<int>(1), *flag = device_zeros<int>(2), *output = device_zeros<int>(1), result[1];
    pass_on<<<2, 64>>>(data, flag, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[1 - 1] == 42);
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    CHECK(cudaFree(output));
    return 0;
}
