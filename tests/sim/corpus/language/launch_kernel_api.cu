// cudaLaunchKernel and cudaLaunchKernelEx beside the brackets.
#include "../corpus.h"

__global__ void add(int *data, int value)
{
    data[threadIdx.x] += value;
}

int main()
{
    int *data = device_zeros<int>(32), value = 3, result[32];
    void *arguments[] = {&data, &value};
    CHECK(cudaLaunchKernel((const void *)add, dim3(1), dim3(32), arguments, 0, 0));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    CHECK(cudaLaunchKernelEx(&config, add, data, 4));
    fetch(result, data);
    REQUIRE(result[31] == 7);
    CHECK(cudaFree(data));
    return 0;
}
