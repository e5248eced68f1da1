// A flag between blocks: data, fence, atomic store; the reader polls with an atomic.
#include "../corpus.h"

__global__ void pass_on(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0)
            ;
        __threadfence();
        *output = *data;
    }
}

int main()
{
    int *data = device_zeros<int>(1), *flag = device_zeros<int>(1), *output = device_zeros<int>(1), result[1];
    pass_on<<<2, 1>>>(data, flag, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 42);
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    CHECK(cudaFree(output));
    return 0;
}
