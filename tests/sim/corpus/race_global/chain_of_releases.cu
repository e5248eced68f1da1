// What A released to B, and B to C, is ordered from A to C.
#include "../corpus.h"

__global__ void relay(int *data, int *flags, int *output)
{
    int b = blockIdx.x;
    if (b > 0)
        while (atomicAdd(&flags[b - 1], 0) == 0)
            ;
    __threadfence();
    if (b == 0)
        data[0] = 5;
    if (b == 2)
        *output = data[0];
    __threadfence();
    atomicExch(&flags[b], 1);
}

int main()
{
    int *data = device_zeros<int>(1), *flags = device_zeros<int>(3), *output = device_zeros<int>(1), result[1];
    relay<<<3, 1>>>(data, flags, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 5);
    CHECK(cudaFree(data));
    CHECK(cudaFree(flags));
    CHECK(cudaFree(output));
    return 0;
}
