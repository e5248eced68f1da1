// A kernel hands out the address of a device variable in pinned memory, where the host reads it with no copy.
#include "../corpus.h"

__device__ float pool[64];

__global__ void hand_out(float **start)
{
    *start = pool;
}

__global__ void set(float *node)
{
    *node = 3;
}

int main()
{
    float **start = NULL, value;
    CHECK(cudaMallocHost(&start, sizeof *start));
    hand_out<<<1, 1>>>(start);
    CHECK(cudaDeviceSynchronize());
    set<<<1, 1>>>(*start);
    CHECK(cudaMemcpy(&value, *start, sizeof value, cudaMemcpyDeviceToHost));
    REQUIRE(value == 3);
    CHECK(cudaFreeHost(start));
    return 0;
}
