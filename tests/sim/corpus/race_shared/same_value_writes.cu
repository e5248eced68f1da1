// Every thread that finds the key sets the same flag to the same value: formal only.
#include "../corpus.h"

__global__ void find(const int *data, int key, int *found)
{
    __shared__ int flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (data[threadIdx.x] == key)
        flag = 1; // expect: race(warning)
    __syncthreads();
    if (threadIdx.x == 0)
        *found = flag;
}

int main()
{
    int *data = device_ramp(64, 7, 0), *found = device_zeros<int>(1), result[1];
    find<<<1, 64>>>(data, 7, found);
    SHOW(cudaGetLastError());
    fetch(result, found);
    REQUIRE(result[0] == 1);
    CHECK(cudaFree(data));
    CHECK(cudaFree(found));
    return 0;
}
