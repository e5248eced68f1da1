// Blocks that find something set one global flag, all to 1: formal only.
#include "../corpus.h"

__global__ void any(const int *data, int *found)
{
    if (data[blockIdx.x * blockDim.x + threadIdx.x] > 100)
        *found = 1; // expect: race(warning)
}

int main()
{
    int *data = device_ramp(256, 0, 1), *found = device_zeros<int>(1), result[1];
    any<<<4, 64>>>(data, found);
    SHOW(cudaGetLastError());
    fetch(result, found);
    REQUIRE(result[0] == 1);
    CHECK(cudaFree(data));
    CHECK(cudaFree(found));
    return 0;
}
