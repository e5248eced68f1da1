// 64 KB of dynamic shared memory after cudaFuncSetAttribute.
#include "../corpus.h"

__global__ void fill(int *data)
{
    extern __shared__ int big[];
    for (int i = threadIdx.x; i < 16384; i += blockDim.x)
        big[i] = i;
    __syncthreads();
    data[threadIdx.x] = big[16383 - threadIdx.x];
}

int main()
{
    int *data = device_zeros<int>(32), result[32];
    CHECK(cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
    fill<<<1, 32, 64 * 1024>>>(data);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == 16383 - i);
    CHECK(cudaFree(data));
    return 0;
}
