// The same counter with atomicAdd, read by the next launch.
#include "../corpus.h"

__global__ void count(const int *data, int *counter)
{
    if (data[blockIdx.x * blockDim.x + threadIdx.x] % 2 == 0)
        atomicAdd(counter, 1);
}

__global__ void twice(int *counter)
{
    *counter *= 2;
}

int main()
{
    int *data = device_ramp(256, 0, 1), *counter = device_zeros<int>(1), result[1];
    count<<<4, 64>>>(data, counter);
    twice<<<1, 1>>>(counter);
    CHECK(cudaGetLastError());
    fetch(result, counter);
    REQUIRE(result[0] == 256);
    CHECK(cudaFree(data));
    CHECK(cudaFree(counter));
    return 0;
}
