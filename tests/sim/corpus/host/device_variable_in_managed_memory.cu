// Kernels hand out addresses of a device variable in managed memory, where the host reads them with no copy.
#include "../corpus.h"

__device__ float pool[64], spare[64];
__managed__ float *first;

__global__ void hand_out(float **start)
{
    first = &pool[7];
    *start = spare;
}

__global__ void set(float *node)
{
    *node = 3;
}

int main()
{
    float **start = NULL, value;
    CHECK(cudaMallocManaged(&start, sizeof *start));
    hand_out<<<1, 1>>>(start);
    CHECK(cudaDeviceSynchronize());
    set<<<1, 1>>>(first);
    set<<<1, 1>>>(*start);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&value, *start, sizeof value, cudaMemcpyDeviceToHost));
    REQUIRE(value == 3);
    CHECK(cudaFree(start));
    return 0;
}
