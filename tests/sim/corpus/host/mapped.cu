// Mapped pinned memory: the kernel writes it through the device pointer, the host reads it after the wait.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = threadIdx.x * 3;
}

int main()
{
    int *host = NULL, *device = NULL;
    CHECK(cudaHostAlloc((void **)&host, 64 * sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer((void **)&device, host, 0));
    fill<<<1, 64>>>(device);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
        REQUIRE(host[i] == 3 * i);
    CHECK(cudaFreeHost(host));
    return 0;
}
