// Results are copied to the host, but the kernel wrote only half of them.
#include "../corpus.h"

__global__ void fill(int *data)
{
    if (threadIdx.x < 32)
        data[threadIdx.x] = 1;
}

int main()
{
    int *data = NULL, host[64];
    CHECK(cudaMalloc(&data, sizeof host));
    fill<<<1, 64>>>(data);
    SHOW(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost)); // expect: uninitialised(warning)
    SHOW(cudaFree(data));
    return 0;
}
